"""Abilities: what can be done in a repository, and which of it a request asks for."""
