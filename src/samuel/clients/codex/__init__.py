"""Codex, by OpenAI."""
