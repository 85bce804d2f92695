"""What connects a client (an agent's own program) to Samuel's hooks."""
