"""The program that a client's hooks start: this Samuel, with the names of the run, whatever the client passes on.

A client may start its hooks in another directory, with another PATH or with variables left out. The run's names
and what it pinned are therefore in the script. It is read-only in a sandbox.

It asks no server: whatever the agent starts could listen in its place.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from samuel.process.emit_client import OFF, SWITCH

PREFIX = "SAMUEL_"


def launcher_script(root: Path, variables: Mapping[str, str], events: Sequence[str]) -> bytes:
    """A `samuel-emit --as CLIENT EVENT` that answers for these events of the client and no others."""
    exports = "".join(
        f"export {name}={shlex.quote(value)}\n"
        for name, value in sorted({**variables, SWITCH: OFF}.items())
        if name.startswith(PREFIX) or name == "HOME"
    )
    # -P: a module in the project must not be imported in place of one that Samuel uses.
    return (
        "#!/bin/sh\n"
        "# The loop fires all other events of this session itself.\n"
        f'case "$3" in {"|".join(map(shlex.quote, events))}) ;; *) exit 0 ;; esac\n'
        f"{exports}"
        f'exec {shlex.quote(sys.executable)} -P -m samuel -C {shlex.quote(str(root))} emit "$@"\n'
    ).encode()
