"""Kiro CLI, by Amazon."""
