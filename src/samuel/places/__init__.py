"""Places: where an attempt at a task can run, and how its command is started there."""
