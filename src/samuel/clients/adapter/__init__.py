"""What the adapters of agents share: an agent's command line, and the reading of what its program prints."""
