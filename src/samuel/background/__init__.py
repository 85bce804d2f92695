"""Handlers that nobody waits for: a supervisor process of Samuel's runs them, each within its own deadline."""
