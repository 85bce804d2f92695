"""Hooks that were written for an agent: what such a hook reads on stdin, and what its answer means to Samuel."""
