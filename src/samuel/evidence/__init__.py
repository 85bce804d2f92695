"""What shows that a task was done: where checks run, what reports say, which files are tests, and the grade."""
