"""AGENTS.md and its mirrors: what agents read about this project, kept the same for all of them."""
