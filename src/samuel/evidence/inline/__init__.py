"""Splitting files that have tests and source in them, one module for each language."""
