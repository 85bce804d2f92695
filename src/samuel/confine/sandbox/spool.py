"""`samuel` inside a container: a shell script that writes down what was asked, for the loop to do.

The image need not hold Samuel, nor Python. The script writes each call into a file of its own, in a directory
that both sides see; when the agent has ended, the loop reads them in order and does what they say. What comes
out of a container is not trusted: only these commands, only plain files, only so many.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside

SHIM = "shim"
"""The directory below a run's state that has the script."""

COMMANDS = ("done", "skip", "block", "ask", "dispute", "enqueue")
MOST = 10_000  # calls of one agent
LONGEST = 64 * 1024  # bytes of one call
_END = "."  # the last argument of a whole record: a script killed half-way leaves none

# `set -C`: a redirection creates its file or fails, so two calls at once cannot take the same number.
_SHIM = """#!/bin/sh
# Stands in for Samuel in this container. What is asked here is done when the agent has ended.
case "$1 $2" in
    {commands}) ;;
    *) echo "samuel: in a container only {listed} work; the tasks are in .samuel/run/prd.toon" >&2; exit 2 ;;
esac
[ -n "$3" ] || {{ echo "samuel: run $2 needs an argument" >&2; exit 2; }}
spool={spool}
[ -w "$spool" ] || {{ echo "samuel: $spool cannot be written" >&2; exit 1; }}
set -C
n=1
until {{ printf '%s\\0' "$@" {end} > "$spool/$n"; }} 2>/dev/null; do
    n=$((n + 1))
    [ $n -le {most} ] || {{ echo "samuel: more than {most} calls" >&2; exit 1; }}
done
echo "samuel: noted, to be done when the agent has ended: $*"
"""


def prepare(state: Path) -> Path:
    """Write the script and empty the spool. Gives the directory to put on the container's PATH."""
    spool = state / "spool"
    apply_spool(spool)
    os.close(make_dirs_inside(state, "spool"))
    directory = make_dirs_inside(state, SHIM, mode=0o755)
    try:
        atomic.write_at(directory, "samuel", _script(spool).encode(), 0o755, durable=False)
    finally:
        os.close(directory)
    return state / SHIM


def apply_spool(spool: Path) -> list[list[str]]:
    """Take out of the spool what was asked for: the arguments of each `samuel` call, in the order of the calls."""
    try:
        directory = os.open(spool, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # no container ran here, or it has put something else in the place
        return []
    try:
        names = os.listdir(directory)
        numbers = sorted((name for name in names if name.isdecimal() and name.isascii()), key=int)
        calls = [_read(spool, name) for name in numbers[:MOST]]
        for name in names:
            with suppress(OSError):  # a directory, or another user's: not a call either way
                os.unlink(name, dir_fd=directory)
    finally:
        os.close(directory)
    return [call for call in calls if call is not None]


def _script(spool: Path) -> str:
    return _SHIM.format(
        commands=" | ".join(f'"run {command}"' for command in COMMANDS),
        listed=", ".join(f"run {command}" for command in COMMANDS),
        spool=shlex.quote(str(spool)),
        end=_END,
        most=MOST,
    )


def _read(spool: Path, name: str) -> list[str] | None:
    try:
        record = read_inside(spool.parent, spool.name, name, limit=LONGEST)
    except (OSError, SamuelError):
        return None
    words = record.decode("utf-8", "replace").split("\0")
    if words[-2:] != [_END, ""] or words[:1] != ["run"] or words[1] not in COMMANDS:
        return None
    return words[:-2]
