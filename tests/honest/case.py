"""One case of honest work: a project, a task, what an agent does, and how that must end."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Ending = Literal["completed", "sent back once", "disputed"]
"""`sent back once`: a fix or a feature without a proof, which is accepted the second time."""


_REPLACE = (
    "my $is_done = length $ENV{NEW} && index($_, $ENV{NEW}) >= 0; "
    "$is_done || s/\\Q$ENV{OLD}\\E/$ENV{NEW}/g || !length $ENV{NEW} || die"
)


class Project(NamedTuple):
    """A small project with tests that pass."""

    files: Mapping[str, str]
    check: str
    """`{python}` is the interpreter of the tests."""
    tools: tuple[str, ...] = ()
    """Programs that must be installed."""


class Case(NamedTuple):
    name: str
    project: Project
    title: str
    work: str
    """A shell script: what the agent does each time, before it claims the task."""
    ending: Ending = "completed"
    grade: str = ""
    """The grade that it must have; "" for any of `proven` and `checked`."""
    task: Mapping[str, Any] = {}
    """More fields of the task."""
    files: Mapping[str, str] = {}
    """Files of the project that differ."""
    settings: str = ""
    baseline: str = ""
    """What `--baseline` is."""
    fails_at: int = 0
    """The run of the check that fails by accident: the first one is the baseline."""


def write(path: str, text: str) -> str:
    """Write a file."""
    directory = f"mkdir -p {shlex.quote(path.rpartition('/')[0])}\n" if "/" in path else ""
    return f"{directory}cat > {shlex.quote(path)} <<'END_OF_FILE'\n{text.strip(chr(10))}\nEND_OF_FILE\n"


def append(path: str, text: str) -> str:
    """Append to a file, once."""
    telling = max(text.splitlines(), key=len)
    return (
        f"grep -qxF -e {shlex.quote(telling)} {path} || cat >> {shlex.quote(path)} <<'END_OF_FILE'\n"
        f"{text.strip(chr(10))}\nEND_OF_FILE\n"
    )


def replace(old: str, new: str, *paths: str) -> str:
    """Replace a text in files, once; it must be there, or have been replaced already."""
    return "".join(
        f"OLD={shlex.quote(old)} NEW={shlex.quote(new)} perl -0pi -e '{_REPLACE}' {shlex.quote(path)}\n"
        for path in paths
    )
