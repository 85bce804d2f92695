from __future__ import annotations

import click

from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.base.printable import file_name, listed, shell_word
from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command
from samuel.git.git import Git
from samuel.git.kept_refs import KeptRef
from samuel.git.trees import Trees
from samuel.history.kept_attempts import kept_attempt, restore_plan
from samuel.history.run_file import no_run
from samuel.process import environment
from samuel.process.inside_a_run import inside_a_run
from samuel.setup.run_state import state_directory, task_store
from samuel.tasks.task import find

NAMED = 10  # paths in one message


@command()
@click.argument("id")
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Which attempt; without it the last one.")
@click.option("--force", is_flag=True, help="Also overwrite files that changed since the attempt.")
def restore(here: CommandContext, id: str, attempt: int | None, force: bool) -> int:
    """Put the changes of a failed attempt back into the work tree.

    They are then yours: the next run neither commits nor undoes them.

    \b
        samuel run restore 1.2
    """
    if run := inside_a_run():
        raise UsageError(f"`run restore` does not work inside run {run}", "call it when the run is over")
    state = state_directory(here.root)
    find(task_store(state).load(), id)
    git = Git(here.root, environment.clean())
    ref = _ref(git, id, attempt)
    record = paths.User.from_environment().record(state)
    record.mkdir(parents=True, exist_ok=True, mode=0o700)
    with no_run(state, record, "samuel run restore"):
        restored_paths = _restore(Trees(git, record / "trees"), ref, force=force)
    data = {"task": id, "attempt": ref.attempt, "run_id": ref.run, "ref": ref.name, "paths": restored_paths}
    many = plural(len(restored_paths), "file")
    lines = [f"  {path}" for path in restored_paths]
    return here.out.answer(data, "\n".join([f"restored {many} of attempt {ref.attempt} of task `{id}`", *lines]))


def _ref(git: Git, id: str, attempt: int | None) -> KeptRef:
    ref = kept_attempt(git, None, id, attempt or 0)
    if ref is None:
        what = f"attempt {attempt} of task `{id}` is not kept" if attempt else f"no attempt of task `{id}` is kept"
        raise SamuelError(what, "`git for-each-ref refs/samuel` lists what is")
    return ref


def _restore(trees: Trees, ref: KeptRef, *, force: bool) -> list[str]:
    plan = restore_plan(trees, ref)
    if plan.conflicts and not force:
        names = listed([f"`{file_name(path)}`" for path in plan.conflicts], NAMED)
        raise SamuelError(
            f"changed since the attempt, so nothing was restored: {names}",
            f"overwrite them with `--force`, or look at `git show {shell_word(ref.name)}`",
        )
    wanted_paths = sorted({*plan.paths, *plan.conflicts})
    if problems := trees.put(plan.tree, wanted_paths):
        raise SamuelError(f"not everything was restored: {'; '.join(problems[:NAMED])}", "fix this and try again")
    return [file_name(path) for path in wanted_paths]
