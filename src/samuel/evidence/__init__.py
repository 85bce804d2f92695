"""What shows that a task was done: where checks run, what their reports say, which files are tests, and grades."""
