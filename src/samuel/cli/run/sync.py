from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click
from msgspec.structs import replace

from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.base.printable import listed
from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command
from samuel.forge.forge import ForgeUnavailable
from samuel.process.inside_a_run import inside_a_run
from samuel.prompts import background
from samuel.setup.issue_list import issue_tasks_again
from samuel.setup.run_state import origin_file, state_directory, task_store
from samuel.setup.task_list import format_handlers
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import TaskImport, named_format
from samuel.tasks.origin import TaskOrigin, digest_of
from samuel.tasks.source_merge import SourceMerge, apply_merge, merge
from samuel.tasks.task import Task
from samuel.tasks.write_back import write_back

MAX_NAMED = 20


@command()
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--removed", type=click.Choice(["keep", "skip"]), help="Tasks that the source has no longer.")
@click.option(
    "--done", type=click.Choice(["keep", "complete"]), help="Tasks that are marked as done in the source."
)
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
def sync(here: CommandContext, methodology: str, removed: str | None, done: str | None, dry_run: bool) -> int:
    """Merge later edits of the file or the issues that the tasks came from.

    New tasks are added, and titles and texts are taken over. What was done stays done. Tasks that are gone, or
    that were marked as done in the file, are asked about on a terminal; elsewhere they stay as they are and
    are named. An issue that was closed counts as marked as done. A forge that cannot be reached is a warning.

    \b
        samuel run sync --dry-run
    """
    if run := inside_a_run():
        raise SamuelError(f"cannot change the tasks from inside the run `{run}`", "use another terminal")
    state = state_directory(here.root, methodology)
    file, store = origin_file(state), task_store(state)
    origins = file.load().origins
    readable = [origin for origin in origins if origin.path or origin.reference]
    if not readable:
        hint = "`samuel run init --from FILE` reads one; standard input cannot be read again"
        raise SamuelError("these tasks did not come from a file", hint)
    reports, warnings = [], list[str]()
    for origin in readable:
        try:
            task_import = _read(here, origin)
        except ForgeUnavailable as unavailable:
            warnings.append(f"`{origin.label}` was not read: {unavailable.message}; {unavailable.hint}")
            continue
        warnings += task_import.warnings() if origin.reference else task_import.notes
        plan = merge(store.load(), origin, task_import.imported, stable_ids=task_import.format.stable_ids)
        skipped = _decided(here, plan.removed, removed, "skip", f"not in `{origin.label}` any more", "Skip them?")
        completed = _decided(
            here, plan.done_in_source, done, "complete", f"marked as done in `{origin.label}`", "Complete them?"
        )
        warnings += _undecided(plan, skipped, completed, origin)
        if not dry_run:
            plan = apply_merge(
                store,
                origin,
                task_import,
                skipped={task.id for task in skipped},
                completed={task.id for task in completed},
                at=iso(SystemClock().now()),
            )
            file.add(replace(origin, digest=digest_of(task_import.source), items=plan.items))
            background.save_sources(state, here.root, task_import)
        reports.append(_plain(origin, plan, skipped, completed))
    if not dry_run:
        warnings += write_back(file, here.root, ()).problems
    lines = [line for report in reports for line in _described(report)]
    blocks = ["\n".join(lines)] if lines else []
    return here.out.answer({"sources": reports, "written": not dry_run}, *blocks, warnings=warnings)


def _read(here: CommandContext, origin: TaskOrigin) -> TaskImport:
    if origin.reference:
        return issue_tasks_again(here.root, origin)
    source = TaskSource.of_file(origin.file(here.root), origin.label)
    format, notes = named_format(source, origin.format, format_handlers(here.open))
    return TaskImport(source, format, "it was read so before", format.read(source, origin.tag), notes)


def _decided(
    here: CommandContext, tasks: Sequence[Task], choice: str | None, act: str, why: str, question: str
) -> tuple[Task, ...]:
    """The tasks for which the answer is yes: by an option, or by a person on a terminal."""
    if not tasks or choice is not None:
        return tuple(tasks) if choice == act else ()
    if here.confirm is None:
        return ()
    here.out.tell(*(f"  `{task.id}` {task.title}" for task in tasks[:MAX_NAMED]))
    return tuple(tasks) if here.confirm(f"{plural(len(tasks), 'task')} {why}. {question}") else ()


def _undecided(
    plan: SourceMerge, skipped: Sequence[Task], completed: Sequence[Task], origin: TaskOrigin
) -> list[str]:
    lines = []
    if plan.removed and not skipped:
        lines.append(
            f"not in `{origin.label}` any more, and kept: {_named(plan.removed)}; `--removed skip` skips them"
        )
    if plan.done_in_source and not completed:
        lines.append(
            f"marked as done in `{origin.label}`, but not completed here: {_named(plan.done_in_source)}; "
            "`--done complete` completes them"
        )
    return lines


def _named(tasks: Iterable[Task]) -> str:
    return listed([f"`{task.id}`" for task in tasks], MAX_NAMED)


def _plain(
    origin: TaskOrigin, plan: SourceMerge, skipped: Sequence[Task], completed: Sequence[Task]
) -> dict[str, Any]:
    return {
        "source": origin.label,
        "format": origin.format,
        "added": [{"id": task.id, "title": task.title} for task in plan.added],
        "changed": [changed._asdict() for changed in plan.changed],
        "removed": [{"id": task.id, "title": task.title, "skipped": task in skipped} for task in plan.removed],
        "done_in_source": [
            {"id": task.id, "title": task.title, "completed": task in completed} for task in plan.done_in_source
        ],
    }


def _described(report: dict[str, Any]) -> list[str]:
    added, changed = report["added"], report["changed"]
    skipped = [row for row in report["removed"] if row["skipped"]]
    completed = [row for row in report["done_in_source"] if row["completed"]]
    counts = f"{len(added)} new, {len(changed)} changed, {len(skipped)} skipped, {len(completed)} completed"
    lines = [f"{report['source']}: {counts}"]
    for word, rows in (("new", added), ("changed", changed), ("skipped", skipped), ("completed", completed)):
        for row in rows[:MAX_NAMED]:
            what = f": {', '.join(row['fields'])}" if word == "changed" else ""
            lines.append(f"  {word} `{row['id']}` {row['title']}{what}")
    return lines
