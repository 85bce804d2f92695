"""Review of a claim by another agent: the copy that it reads, its prompt, its answer, and what comes of that."""
