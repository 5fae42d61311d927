"""ALARA's health log as Toolmark tools."""
