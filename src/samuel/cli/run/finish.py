from __future__ import annotations

from collections.abc import Mapping

import click

from samuel.base import paths
from samuel.base.errors import UsageError
from samuel.base.printable import shell_word
from samuel.cli.command_context import CommandContext, command
from samuel.git.git import Git
from samuel.process import environment
from samuel.process.inside_a_run import inside_a_run
from samuel.process.live import is_live
from samuel.setup.run_state import run_file, state_directory
from samuel.workspaces.finish_branch import branch_to_finish, discard, merge, propose


@command()
@click.option("--merge", is_flag=True, help="Merge it into the branch that it came from.")
@click.option("--pr", is_flag=True, help="Push it, and open a pull request with `gh` if that is there.")
@click.option("--discard", is_flag=True, help="Remove the branch; refs of the run keep the work.")
@click.option("--remote", default="origin", metavar="NAME", help="Where --pr pushes to; without it `origin`.")
def finish(here: CommandContext, /, remote: str, **flags: bool) -> int:
    """Merge, propose or discard the branch of the last run.

    Runs have a branch of their own with `branch = true`, which `samuel run init` writes in a git repository; a run
    with lanes also has one when the work tree had uncommitted changes. --merge and --discard check out the branch
    that it came from.

    \b
        samuel run finish --merge
    """
    if run_id := inside_a_run():
        raise UsageError(f"`run finish` does not work inside run {run_id}", "call it when the run is over")
    how = _way(flags)
    run = run_file(state_directory(here.root)).resumable().run
    git = Git(here.root, environment.clean(pass_names=("SSH_AUTH_SOCK",)))
    branch = branch_to_finish(git, run)
    if run is not None and is_live(paths.User.from_environment().live, run.run_id):
        raise UsageError(f"run {run.run_id} is still at work", "finish its branch when it has ended")
    if run is not None and not run.over and how != "pr":
        raise UsageError(
            f"run {run.run_id} did not end, so nothing was done to its branch",
            "`samuel run start` resumes it; finish its branch when it has ended",
        )
    data = {"branch": branch.name, "from_branch": branch.from_branch, "how": how}
    match how:
        case "merge":
            merged = merge(git, branch)
            text = f"merged {branch.name} into {merged.into}: {merged.commit[:12]}"
            return here.out.answer({**data, "commit": merged.commit, "into": merged.into}, text)
        case "pr":
            url = propose(git, branch, remote)
            text = url or f"pushed {branch.name} to {remote}; open the pull request there"
            return here.out.answer({**data, "url": url}, text)
    commit, why_detached = discard(git, branch)
    text = f"removed {branch.name}; `git branch NAME {shell_word(commit[:12])}` brings it back"
    if why_detached and branch.from_branch:
        text += f"\nyour HEAD is detached at {branch.start[:12]}, because {why_detached}: `git switch BRANCH`"
    return here.out.answer({**data, "commit": commit}, text)


def _way(flags: Mapping[str, bool]) -> str:
    """What shall become of the branch. Raises UsageError unless there is one flag that says it."""
    ways = [name for name in ("merge", "pr", "discard") if flags[name]]
    if not ways:
        raise UsageError("what becomes of the branch is missing", "give --merge, --pr or --discard")
    if len(ways) > 1:
        raise UsageError(f"{', '.join(f'`--{name}`' for name in ways)} exclude each other", "give one of them")
    return ways[0]
