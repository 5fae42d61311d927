"""Literature review as Toolmark tools."""
