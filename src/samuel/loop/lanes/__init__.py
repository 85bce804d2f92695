"""Several agents at once: lanes, which task goes to which, and how their work lands on a branch."""
