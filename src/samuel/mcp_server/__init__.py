"""`samuel mcp`: what a chat client can ask about the run of a project, and tell it."""
