"""What an agent is told about the project, its past and its task: one generator per file."""
