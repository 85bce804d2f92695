"""What Samuel writes for people: a project's first files, a hook to start from, lines for samuel.toml."""
