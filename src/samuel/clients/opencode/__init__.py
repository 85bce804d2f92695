"""opencode, by SST."""
