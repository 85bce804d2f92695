"""Kimi Code, by Moonshot AI."""
