"""The types: frozen values that all packages share; no files, no network, no clock."""
