"""The program that answers the hooks of a run's agent where the run's server does not: this Samuel.

A client may start its hooks in another directory, with another PATH or with variables left out. The run's names,
what it pinned and the variables that hooks see are therefore in the script. It is read-only in a sandbox.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from samuel.process.emit_client import OFF, SWITCH
from samuel.process.ledger import MARK
from samuel.process.passed import UNSET_NAMES, is_pinned


def launcher_script(root: Path, variables: Mapping[str, str]) -> bytes:
    """A `samuel emit` for the project at `root`, with these `variables` and no server."""
    # -P: a module in the project must not be imported in place of one that Samuel uses.
    words = [sys.executable, "-P", "-m", "samuel", "emit"]
    lines = [
        "#!/bin/sh",
        *_environment({**variables, SWITCH: OFF}),
        f"cd {shlex.quote(str(root))} || exit 2",  # a denial; `cd` says why
        f'exec {shlex.join(words)} "$@"',
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _environment(variables: Mapping[str, str]) -> Iterator[str]:
    """The lines that make the variables which hooks see those of the run."""
    for name, value in sorted(variables.items()):
        if is_pinned(name, variables) and name != MARK:
            yield f"export {name}={shlex.quote(value)}"
    if left_out := sorted(UNSET_NAMES.difference(variables)):
        yield f"unset {' '.join(left_out)}"
