"""The turn of the agent in an attempt: its session, its hooks, and how it ended."""
