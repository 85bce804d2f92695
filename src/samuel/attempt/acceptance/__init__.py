"""Acceptance tests: whether they are due, what the agent that writes them left, and how attempts get them."""
