"""Texts that an agent may read when a task calls for them, and where such texts are found."""
