"""The program that a client's hooks start: this Samuel, with the names of the run, whatever the client passes on.

A client may start its hooks in another directory, with another PATH or with variables left out. The run's names,
what it pinned and the variables that hooks see are therefore in the script. It is read-only in a sandbox.

It asks the server of the run and no other: whatever the agent starts could listen in a server's place. So the
script names the process that has to be at the other end.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from samuel.bridges.process.run_server import ServerAddress
from samuel.process.emit_client import OFF, SERVER_OPTION, SWITCH
from samuel.process.ledger import MARK
from samuel.process.passed import PASSED, PASSED_PREFIXES

# Not those of proxies, whose values may have a password in them: the client passes them on, or not.
_PINNED_NAMES = frozenset(name for name in PASSED if "proxy" not in name.lower())
_NEEDED = ("PATH", "HOME")
_SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # a shell cannot set any other, and would end


def launcher_script(
    root: Path, variables: Mapping[str, str], events: Sequence[str], server: ServerAddress | None = None
) -> bytes:
    """A `samuel-emit --as CLIENT EVENT` that answers for these events of the client and no others.

    `server` answers, or, if it is gone or somebody else listens there, a process of its own.
    """
    # -P: a module in the project must not be imported in place of one that Samuel uses.
    words = [sys.executable, "-P", "-m", "samuel", "-C", str(root), "emit"]
    lines = [
        "#!/bin/sh",
        "# The loop fires all other events of this session itself.",
        f'case "$3" in {"|".join(map(shlex.quote, events))}) ;; *) exit 0 ;; esac',
        *_environment({**variables, SWITCH: OFF}),
    ]
    if server is not None:
        asking = shlex.join((server.client, SERVER_OPTION, server.path, str(server.pid), str(server.born)))
        lines.append(f'cd {shlex.quote(str(root))} 2>/dev/null && exec {asking} "$@"')
    lines.append(f'exec {shlex.join(words)} "$@"')
    return "".join(f"{line}\n" for line in lines).encode()


def _environment(variables: Mapping[str, str]) -> Iterator[str]:
    """The lines that make the variables which hooks see those of the run."""
    for name, value in sorted(variables.items()):
        is_pinned = name in _PINNED_NAMES or name.startswith(PASSED_PREFIXES)
        if is_pinned and name != MARK and _SHELL_NAME.fullmatch(name):
            yield f"export {name}={shlex.quote(value)}"
    if left_out := sorted(_PINNED_NAMES - set(variables) - set(_NEEDED)):
        yield f"unset {' '.join(left_out)}"
