"""Antigravity CLI, by Google."""
