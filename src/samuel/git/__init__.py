"""Hardened git: our own reads and commits, and what a sandboxed program must not leave for git to run."""
