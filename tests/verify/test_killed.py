"""A run that is killed between its commit and its note, or in the middle of writing it."""

from __future__ import annotations

import pytest
from tests.verify.conftest import Shop

# Stands for `git`: ends the Samuel that started it, before or after the note is written.
KILLER = """\
#!/bin/sh
case " $* " in
*" notes "*" add "*)
    if [ ! -e {mark} ]; then
        touch {mark}
        {first}
        kill -9 $PPID
        exit 1
    fi;;
esac
exec {git} "$@"
"""


@pytest.mark.parametrize("parallel", ["1", "2"], ids=["own tree", "lanes"])
@pytest.mark.parametrize("first", ["", '/usr/bin/env git "$@"'], ids=["before the note", "after the note"])
def test_killed_run_writes_one_note_when_it_resumes(new_shop: Shop, first: str, parallel: str) -> None:
    with (new_shop.root / "samuel.toml").open("a") as config:
        config.write('\n[lanes]\ncopy = [".venv"]\n')
    new_shop.git("commit", "-q", "-a", "-m", "lanes")
    real = new_shop.git("--exec-path") + "/git"
    file = new_shop.directory / "bin/git"
    mark = new_shop.directory / "killed"
    file.write_text(KILLER.format(mark=mark, git=real, first=first.replace("/usr/bin/env git", real)))
    file.chmod(0o755)
    new_shop.add_task()

    assert new_shop.samuel("run", "start", "--yes", "--parallel", parallel).code == -9
    assert mark.exists()
    commit = new_shop.git("rev-parse", "HEAD")
    assert new_shop.git("log", "-1", "--format=%s") == "1 Fix negative prices"

    assert new_shop.samuel("run", "start", "--yes", "--parallel", parallel).code == 0
    assert new_shop.git("rev-parse", "HEAD") == commit, "it makes no second commit"
    assert new_shop.git("notes", "--ref=samuel", "list").split("\n") == [
        f"{new_shop.git('rev-parse', f'refs/notes/samuel:{commit}')} {commit}"
    ]
    assert new_shop.git("rev-list", "--count", "refs/notes/samuel") == "1", "it writes the note once"
    assert new_shop.verify("HEAD").code == 0


def test_lock_of_a_killed_git_does_not_keep_the_note_from_being_written(new_shop: Shop) -> None:
    lock = new_shop.root / ".git/refs/notes/samuel.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    new_shop.run()
    assert new_shop.note()["predicate"]["grade"] == "proven"


def test_agent_cannot_write_receipts(new_shop: Shop) -> None:
    agent = new_shop.root / "agent.sh"
    agent.write_text(agent.read_text() + "git notes --ref=samuel add -m forged HEAD\n")
    new_shop.git("commit", "-q", "-a", "-m", "an agent that forges")
    before = new_shop.git("rev-parse", "HEAD")
    new_shop.run()
    assert new_shop.git("notes", "--ref=samuel", "list").split("\n")[0].split()[1] != before
    assert new_shop.verify("HEAD").code == 0
