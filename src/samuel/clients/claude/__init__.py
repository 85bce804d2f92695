"""Claude Code, by Anthropic."""
