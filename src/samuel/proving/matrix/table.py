"""The table of `bridge check --live --all`: a row for each client and event, from what was just run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from samuel.base.paths import User
from samuel.clients.dialect.limits import DENY, LOST
from samuel.clients.promises import FAIL_CLOSED, MODS, keeps
from samuel.clients.table import CLIENTS, LAYOUTS
from samuel.proving.matrix.experiments import Experiments, MatrixRow
from samuel.proving.model.launch import SCRIPTED_CLIENTS
from samuel.proving.proof import version_of

COLUMNS = (
    *(
        "agent",
        "version",
        "event",
        "honoured",
        "rewritten",
        "guard crashes",
        "guard hangs",
        "guard answers garbage",
    ),
    *("program crashes", "program hangs", "program prints garbage", "program missing", "subagents", "MCP tools"),
)
NOT_INSTALLED, NO_MODEL = "not installed here", "cannot ask a model on this machine"


def matrix(
    clients: Iterable[str], root: Path, user: User, host: Mapping[str, str], tell: Callable[[str], None]
) -> list[MatrixRow]:
    """Run every experiment with the installed ones of `clients`; the others get a row that says why they were not.

    `tell` is given a line before each client.
    """
    user.cache.mkdir(parents=True, exist_ok=True)
    rows: list[MatrixRow] = []
    for name in clients:
        program = LAYOUTS[name].program
        if not shutil.which(program, path=host.get("PATH")):
            rows.append(MatrixRow(name, NOT_INSTALLED, "-"))
        elif name not in SCRIPTED_CLIENTS:
            rows.append(MatrixRow(name, NO_MODEL, "-"))
        else:
            tell(f"running {name} against a model on this machine; this can take minutes")
            client = SCRIPTED_CLIENTS[name]
            version = version_of(client, root, host)
            rows += Experiments(client, user.cache, host).rows(name, version)
            if keeps(name, FAIL_CLOSED, version):
                unset = Experiments(client, user.cache, host, fails_closed=False)
                rows += unset.rows(f"{name}, without `{FAIL_CLOSED}`", version)
            if keeps(name, MODS, version):
                rows += Experiments(client, user.cache, host).controls(name, version)
    return rows


def failed(rows: Sequence[MatrixRow]) -> bool:
    """Whether a denial that Samuel promises was not honoured, or could not be tried.

    Rows about a client with something left out or added are controls.
    """
    return any(row.honoured != "yes" and _is_promised(row) for row in rows)


def _is_promised(row: MatrixRow) -> bool:
    client = CLIENTS.get(row.agent)
    if client is None or row.event not in client.events:
        return False
    limit = client.limits.get((client.events[row.event], DENY))
    return limit is None or limit.verdict != LOST


def markdown(rows: Sequence[MatrixRow], date: str) -> str:
    """The table with its date, as the docs have it."""
    lines = [f"Run on {date}.", "", *_line(COLUMNS), *(line for row in rows for line in _line(row)[:1])]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> tuple[str, str]:
    """A line of the table, and the rule that follows it if it is the first."""
    return f"| {' | '.join(cells)} |", f"|{'---|' * len(cells)}"
