from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from samuel.base import paths
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable, fields_of
from samuel.history.run import AttemptUnderWay, Run
from samuel.setup.run_state import run_file, state_directory
from samuel.workspaces.fleet.drain import drained

COLUMNS = ("place", "state", "slots", "tasks", "machine", "why")
NONE = "the last run used no other machines; `samuel run start --place ssh:HOST:SLOTS` does"


@command()
def status(here: CommandContext) -> int:
    """Show the machines of the run under way, or of the last one, and what each does.

    \b
        samuel fleet status
    """
    state = state_directory(here.root)
    run = run_file(state).load()
    if run is None or run.lanes is UNSET or not run.lanes.fleet:
        return here.out.answer([], NONE)
    data = machines(run, drained(paths.User.from_environment().record(state), run.run_id))
    rows = [
        (
            entry["place"],
            entry["state"],
            f"{len(entry['tasks'])}/{entry['slots']}",
            ", ".join(task["task"] for task in entry["tasks"]) or "-",
            entry["machine"] or "-",
            entry["why"] or "-",
        )
        for entry in data
    ]
    return here.out.answer(data, OutputTable(COLUMNS, rows, folded=("why",)))


def machines(run: Run, away: tuple[str, ...]) -> list[dict[str, Any]]:
    """The machines of a run as the data of `--json`; those of a cluster follow it."""
    assert run.lanes is not UNSET
    working = [record for record in run.active.values() if record.result is None]
    entries = []
    for name, place in run.lanes.fleet.items():
        entry = {
            "place": name,
            "state": "drained" if name in away else "over" if run.over else place.status,
            "slots": len(place.lanes),
            "tasks": _tasks(record for record in working if record.place == name),
            "machine": "" if place.machines else place.machine,
            "version": place.version,
            "clone": place.directory,
            "why": place.why,
            "until": place.until,
        }
        entries.append(entry)
        for machine in place.machines:
            member = f"{name}/{machine.name}"
            state = "drained" if member in away else "out" if machine.why else entry["state"]
            here = (record for record in working if (record.place, record.machine) == (name, machine.name))
            entries.append(
                entry
                | {
                    "place": member,
                    "state": "over" if run.over else state,
                    "slots": machine.slots,
                    "tasks": _tasks(here),
                    "machine": machine.name,
                    "clone": "",
                    "why": machine.why,
                }
            )
    return entries


def _tasks(records: Iterable[AttemptUnderWay]) -> list[dict[str, Any]]:
    return [fields_of(record, "task", "attempt", "lane", "agent") for record in records]
