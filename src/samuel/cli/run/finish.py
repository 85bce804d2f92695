from __future__ import annotations

import click

from samuel import paths
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.inside_a_run import inside_a_run
from samuel.cli.run import run_file, state_directory
from samuel.errors import UsageError
from samuel.loop.lanes.finish import branch_to_finish, discard, merge, propose
from samuel.process import environment
from samuel.process.git.git import Git
from samuel.process.live import is_live


@click.command()
@click.option("--merge", "how", flag_value="merge", help="Merge it into the branch that is checked out.")
@click.option("--pr", "how", flag_value="pr", help="Push it, and open a pull request with `gh` if that is there.")
@click.option("--discard", "how", flag_value="discard", help="Remove the branch; refs of the run keep the work.")
@click.option("--remote", default="origin", metavar="NAME", help="Where --pr pushes to; without it `origin`.")
@json_option
@click.pass_obj
def finish(here: CommandContext, how: str | None, remote: str) -> int:
    """Merge, propose or discard the branch of the last run.

    Runs have a branch of their own with `branch = true`, and when the work tree had uncommitted changes.

    \b
        samuel run finish --merge
    """
    if run_id := inside_a_run():
        raise UsageError(f"`run finish` does not work inside run {run_id}", "call it when the run is over")
    if how is None:
        raise UsageError("what becomes of the branch is missing", "give --merge, --pr or --discard")
    run = run_file(state_directory(here)).load()
    branch = branch_to_finish(run)
    assert run is not None
    if is_live(paths.User.from_environment().live, run.run_id):
        raise UsageError(f"run {run.run_id} is still at work", "finish its branch when it has ended")
    git = Git(here.root, environment.clean(pass_names=("SSH_AUTH_SOCK",)))
    data = {"branch": branch, "how": how}
    match how:
        case "merge":
            commit = merge(git, branch)
            return here.out.answer({**data, "commit": commit}, f"merged {branch}: {commit[:12]}")
        case "pr":
            from_branch = run.lanes.from_branch if run.lanes else ""
            url = propose(git, branch, remote, from_branch)
            text = url or f"pushed {branch} to {remote}; open the pull request there"
            return here.out.answer({**data, "url": url}, text)
    commit = discard(git, branch)
    return here.out.answer({**data, "commit": commit}, f"removed {branch}, which was at {commit[:12]}")
