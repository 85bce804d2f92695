"""The loop of tests/run, with a project of its own for each agent."""

from tests.run.conftest import first_commit, loop

__all__ = ["first_commit", "loop"]
