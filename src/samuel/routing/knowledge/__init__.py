"""Which documents of a repository help with what is wanted: ROUTING.md, route files, and the choice."""
