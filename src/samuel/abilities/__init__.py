"""What can be done in a repository: the registry of abilities, and which of them a request asks for."""
