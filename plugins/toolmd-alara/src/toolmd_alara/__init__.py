"""ALARA's health log as Toolmd tools."""
