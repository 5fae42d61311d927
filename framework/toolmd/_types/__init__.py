"""The nouns: frozen values that cross the walls between rooms; no files, no network, no clock."""
