"""Calling an ability: create the call, run it through its hooks, and record what really happened."""
