"""What a person should know who calls a task done: where its work is, if it is not in the repository."""

from __future__ import annotations

from pathlib import Path

from samuel.base.errors import Locked
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name, listed, shell_word
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.history.kept_attempts import is_missing, kept_attempt
from samuel.history.run_file import no_run

MOST_NAMED = 3


def notes_on_done(git: Git, state: Path, record: Path, id: str, *, commits: bool) -> list[str]:
    """Warnings about a task that a person completes. `commits` is whether runs commit completed tasks.

    None while a run is at work: the work tree is its own then.
    """
    if not git.is_repository:
        return []
    try:
        with no_run(state, record, "samuel run done"):
            ref = kept_attempt(git, None, id)
            if ref and is_missing(Trees(git, record / "trees"), ref):
                return [
                    f"nothing of attempt {ref.attempt} of task `{id}` is in your work tree; "
                    f"`samuel run restore {shell_word(id)}` puts it there"
                ]
    except Locked:
        return []
    paths = [entry.path for entry in git.status().entries if not entry.path.startswith(VOLATILE_DIRS)]
    if not commits or not paths:
        return []
    named = listed([f"`{file_name(path)}`" for path in paths], MOST_NAMED)
    return [f"not committed: {named}; neither `run done` nor the next run commits that, so commit it yourself"]
