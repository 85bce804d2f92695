"""Files of an attempt that a person has to know about: large ones, those that no ref has, those outside."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.run.conftest import LoopProject

from samuel.attempt.file_notes import LARGE
from samuel.git.work_file import LARGEST
from samuel.history.notices import LoopWarning
from samuel.report.files import HTML, MARKDOWN

CLAIM = "samuel run done 1\n"


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def warnings(loop: LoopProject) -> list[str]:
    return [report.text for report in loop.reports if isinstance(report, LoopWarning)]


def run(loop: LoopProject, script: str, settings: str = "") -> str:
    """One iteration of an agent; gives the run."""
    loop.configure(f"max_task_attempts = 1\n{settings}")
    loop.agent(script)
    git(loop.root, "add", "-A")
    git(loop.root, "commit", "-q", "-m", "the agent")
    loop.tasks("1")
    return loop.run(1).run_id


def reports(loop: LoopProject, run_id: str) -> tuple[str, str]:
    """The report of a run, as a page and as Markdown without its escapes."""
    directory = loop.root / ".samuel/run/reports" / run_id
    return (directory / HTML).read_text(), (directory / MARKDOWN).read_text().replace("\\", "")


@pytest.mark.slow
def test_large_file_that_is_committed_is_named_on_the_screen_and_in_the_report(loop: LoopProject) -> None:
    run_id = run(loop, f"truncate -s {LARGE + 1} huge.bin\n{CLAIM}", "commit = true")
    (text,) = warnings(loop)
    assert text == (
        "large files were added or changed: `huge.bin` (50 MB); the commit of a completed task has them; tell git "
        "to ignore what should not be there"
    )
    page, markdown = reports(loop, run_id)
    assert "<code>huge.bin</code> (50 MB)" in page
    assert text in markdown
    assert "huge.bin" in git(loop.root, "show", "--stat", "HEAD")


def test_file_that_no_ref_can_have_is_named_and_moved_aside_when_its_attempt_failed(
    loop: LoopProject,
) -> None:
    run_id = run(loop, f"truncate -s {LARGEST + 1} data.bin\necho x > small.txt\nexit 1\n")
    words = "files that no ref can have were added or changed: `data.bin` (it is larger than 256 MiB)"
    assert any(text.startswith(words) for text in warnings(loop))
    assert words in reports(loop, run_id)[1]
    assert not (loop.root / "data.bin").exists()
    assert (loop.root / ".samuel/run/aside/data.bin.1").stat().st_size == LARGEST + 1
    kept_text = git(loop.root, "show", f"refs/samuel/{run_id}/1/1:data.bin")
    assert kept_text.startswith("samuel: this file was not kept, because it is larger than 256 MiB\n")


def test_files_outside_of_a_project_in_a_larger_repository_are_named_and_in_the_ref(loop: LoopProject) -> None:
    top = loop.root.parent
    (loop.root / ".git").rename(top / ".git")
    (top / "shared").mkdir()
    for name in ("shared/a.txt", "shared/b.txt", "shared/c.txt"):
        (top / name).write_text("before\n")
    (top / ".gitignore").write_text("/home/cache/\n")
    git(top, "add", "shared", ".gitignore")
    run_id = run(loop, "cd ..\necho agent > shared/a.txt\nrm shared/b.txt\necho new > shared/new.txt\nexit 1\n")
    words = (
        "files of the repository outside of the project were changed: "
        "`shared/a.txt`, `shared/b.txt`, `shared/new.txt`; they are neither judged nor committed nor put back; "
        "the ref of a failed attempt has them"
    )
    assert words in warnings(loop)
    assert words in reports(loop, run_id)[1]
    shown_files = git(top, "show", "--format=", "--name-status", f"refs/samuel/{run_id}/1/1").split()
    assert shown_files == ["M", "shared/a.txt", "D", "shared/b.txt", "A", "shared/new.txt"]
    assert (top / "shared/a.txt").read_text() == "agent\n"


def test_small_files_inside_of_the_project_are_not_remarked_on(loop: LoopProject) -> None:
    run(loop, f"echo x > small.txt\n{CLAIM}")
    assert warnings(loop) == []
