"""Attempts on other machines: what the coordinator and a machine tell each other, and what each of them does."""
