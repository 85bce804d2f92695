"""What an agent is told: the project, its past and its task, and the prompt that is rendered from them."""
