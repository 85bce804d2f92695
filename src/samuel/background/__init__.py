"""Background handlers: a supervisor process runs them, each within its own deadline."""
