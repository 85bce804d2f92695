"""What connects a coding agent's own client to Samuel, and what proves that the connection works."""
