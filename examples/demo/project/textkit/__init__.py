"""A few functions for short texts."""
