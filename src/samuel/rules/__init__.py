"""What the hooks that come with Samuel are told below `config` in their YAML: reading it, and pure functions."""
