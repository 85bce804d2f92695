"""What the checks of a project run, what they say about an attempt, and whether they can be believed."""
