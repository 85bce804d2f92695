"""Plugins: what they say of themselves, where they come from, what is installed. Nothing here calls a hook."""
