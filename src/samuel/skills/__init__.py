"""Skills and recipes: Markdown files for agents, of the project, the user and plugins."""
