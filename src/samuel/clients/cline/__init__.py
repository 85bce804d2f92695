"""Cline CLI."""
