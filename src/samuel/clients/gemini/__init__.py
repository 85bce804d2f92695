"""Gemini CLI, by Google."""
