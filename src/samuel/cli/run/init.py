from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from samuel.base.errors import SamuelError
from samuel.checks.files import CheckFiles
from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.convert import described, read_tasks, source_options, warnings
from samuel.cli.run.issues import issue_options, issue_query
from samuel.cli.run.tasks import table
from samuel.config.edit import Value
from samuel.setup.consent import Consent
from samuel.setup.issue_list import issue_tasks
from samuel.setup.task_list import TaskList, TaskListRequest, make_task_list, refuse_task_list
from samuel.tasks.importing import TaskImport
from samuel.trust.items import TrustItem

COMMITS = {
    "commit": "each completed task becomes a commit (`--no-commit` declines)",
    "branch": "on a branch of the run's own, which `samuel run finish --merge` merges",
}


@command()
@click.option(
    "--from",
    "--prd",
    "source",
    required=True,
    metavar="FILE|DIR|-|github",
    help="Where the tasks are: a file, a directory, `-` for standard input, or `github` for its issues.",
)
@issue_options
@source_options
@click.option(
    "--write-back/--no-write-back", default=True, help="Mark completed tasks in that file; on by default."
)
@click.option("--agent", default="", help="The agent that works on the tasks.")
@click.option("--max-iterations", type=click.IntRange(1), help="The largest number of iterations of a run.")
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--no-commit", is_flag=True, help="Leave `commit` and `branch` of samuel.toml as they are.")
@click.option("--force", is_flag=True, help="Replace the tasks that there are.")
@click.option("--yes", is_flag=True, help="Do not ask; trust the check commands that the tasks bring along.")
def init(
    here: CommandContext,
    /,
    source: str,
    format_name: str,
    tag: str,
    no_commit: bool,
    yes: bool,
    **options: Any,
) -> int:
    """Create the task list from what you have written down.

    The tasks can be in a PRD in Markdown, in a tasks.md of OpenSpec or spec-kit, in the files of BMAD, task-master
    or beads, in a prd.json, in the output of `gh issue list`, or in the issues of the project on GitHub, which are
    read with `gh`. On a terminal they are shown before anything is written.

    The options given here, and the checks that the project has, are written to samuel.toml. What these checks run
    or read is shown: an attempt that changes it is checked without that change first. So are the tests that a task
    may change, where its words say so; `Files:` below a task names them exactly.

    In a git repository, `commit` and `branch` are switched on if samuel.toml has neither: a run commits each
    completed task on a branch of its own, which `samuel run finish --merge` merges.

    \b
        samuel run init --from docs/prd.md --agent claude
        samuel run init --from github --label ready
        gh issue list --json number,title,body,labels | samuel run init --from -
    """
    query = issue_query(source, options, format_name=format_name, tag=tag)
    request = TaskListRequest(commits=not no_commit, **options)
    refuse_task_list(here.root, request)
    if query is None:
        task_import = read_tasks(here, source, format_name, tag)
    else:
        task_import = issue_tasks(here.root, source, query, request)
    _ask(here, task_import, yes=yes)
    task_list = make_task_list(here.root, task_import, request, partial(_choose_trusted, here, yes))
    lines = [
        *described(task_import),
        *_project_line(here),
        *(f"  wrote {_setting_line(key, value)}" for key, value in task_list.new_settings.items()),
        *_described(task_list.check_files),
        *task_list.owned_by_words.values(),
        *_suggested(task_list),
    ]
    if not task_list.checks:
        lines.append(
            "no checks were found: until samuel.toml has quality_checks, a task is done when the agent says so"
        )
    if task_list.untrusted:
        lines.append("the checks that the tasks bring along are not trusted yet: `samuel trust` shows them")
    block = "\n".join([*lines, "", "Try:", "  samuel run tasks", "  samuel run start"])
    notes = task_import.warnings() if here.out.json else warnings(task_import)
    return here.out.answer(
        {**task_import.plain(), "root": str(here.root), **task_list.plain()},
        block,
        warnings=[*notes, *task_list.warnings],
    )


def _project_line(here: CommandContext) -> list[str]:
    """Where the tasks were written, for a person who is in a directory below it."""
    if here.directory.resolve() == here.root:
        return []
    return [f"  project: {here.root}; samuel.toml and the tasks in .samuel/run are there"]


def _setting_line(key: str, value: Value) -> str:
    return f"{key} = true: {COMMITS[key]}" if key in COMMITS else f"{key} = {value}"


def _ask(here: CommandContext, task_import: TaskImport, *, yes: bool) -> None:
    """On a terminal: show what was read, and ask before anything is written."""
    if yes or here.confirm is None:
        return
    here.out.show(table(task_import.imported.tasks))
    here.out.tell("", *described(task_import), *_project_line(here), *warnings(task_import))
    if not here.confirm("Write these tasks?"):
        raise SamuelError("nothing was written", "`--format` reads the file in another way")


def _choose_trusted(
    here: CommandContext, yes: bool, consent: Consent, items: Sequence[TrustItem]
) -> Sequence[TrustItem]:
    """Of the commands that came with the tasks, those that the user trusts."""
    if yes:
        return items
    return here.ask_for_trust(consent, items) if here.out.asks else ()


def _suggested(task_list: TaskList) -> list[str]:
    """The other way to give checks what git does not have."""
    if (suggestion := task_list.prepare) is None:
        return []
    return [
        f"the checks get a copy of {suggestion.makes}; to make it from {suggestion.lock_file} instead, "
        f'set prepare = "{suggestion.command}" in samuel.toml'
    ]


def _described(check_files: CheckFiles) -> list[str]:
    lines = check_files.describe()
    return ["what the checks run or read:", *(f"  {line}" for line in lines)] if lines else []
