"""The composition root: where all the rooms are put together, and nowhere else."""

from samuel.app.options import Machine, Overrides
from samuel.app.project import App

open = App

__all__ = ["App", "Machine", "Overrides", "open"]
