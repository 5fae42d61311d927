"""Call the tools of MCP servers: `Implemented By: mcp SERVER TOOL`."""
