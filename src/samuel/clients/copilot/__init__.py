"""Copilot CLI, by GitHub."""
