"""Who does the work: one adapter per file, and one way to run any of them."""
