"""Where a command works, and with what: the directory it was called for, its output, and the project opened."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samuel import paths
from samuel.cli.output import Output
from samuel.errors import UsageError
from samuel.printable import safe

if TYPE_CHECKING:
    from samuel.app import App


@dataclass(frozen=True)
class CommandContext:
    directory: Path
    out: Output

    @property
    def root(self) -> Path:
        """The root of the project, found without opening it."""
        try:
            return paths.find_root(self.directory)
        except FileNotFoundError:
            raise UsageError("the current directory does not exist any more", "change to another one") from None

    def open(self, root: Path | None = None, **settings: Any) -> App:
        """Open the project. Nothing in it runs that its owner did not agree to."""
        from samuel.app import App  # the engine, which `hooks log` and the like do without
        from samuel.process.tree import own_all_children

        own_all_children()  # nobody but Samuel starts processes in this program
        return App(root or self.root, search=False, ask=self.confirm, **settings)

    @property
    def confirm(self) -> Callable[[str], bool] | None:
        """Puts a question to the person, if there is one."""
        return _confirm if self.out.asks else None


def inside_a_run() -> str:
    """The id of the run or session that this process is part of; "" outside of one.

    By its variables, or by its ancestors: whoever dropped the variables is still below the run.
    """
    from samuel.process.live import enclosing  # msgspec, which `--help` does without

    return os.environ.get("SAMUEL_RUN_ID", "") or enclosing(paths.User.from_environment().live)


def _confirm(question: str) -> bool:
    return click.confirm(safe(question), err=True)


# Its value is read by the edge, which must know it also when the rest of the command line is wrong.
json_option = click.option("--json", is_flag=True, expose_value=False, help="Answer with one JSON object.")

env_option = click.option(
    "--env", "environment", metavar="NAME", default="", help="The environment of this command: dev, prod, …"
)
