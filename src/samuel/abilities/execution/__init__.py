"""Calling an ability: create a task, run it through its hooks, and leave a record of what really happened."""
