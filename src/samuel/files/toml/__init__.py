"""TOML: its values, its lines and keys, and what is wrong with a text that is none."""
