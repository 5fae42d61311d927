"""Literature review as Toolmd tools."""
