"""The data types that the packages exchange; frozen, without files, network or clock."""
