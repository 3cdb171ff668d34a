"""Does an MCP server keep to the token budgets it is given?"""
