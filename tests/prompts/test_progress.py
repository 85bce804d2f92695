from __future__ import annotations

import os
from pathlib import Path

import pytest

from samuel.base.errors import UnsafePath
from samuel.files.atomic import Disk
from samuel.prompts.progress import BUDGET, ProgressEntry, append, context, rotate


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "progress.md"


def entry(number: int, **more: tuple[str, ...]) -> ProgressEntry:
    return ProgressEntry(f"run-1/{number}", "2025-01-15T10:23:45Z", number, f"1.{number}", "completed", **more)


class TestAppend:
    def test_progress_entry_is_written_as_markdown_with_a_mark(self, file: Path) -> None:
        first_entry = ProgressEntry(
            *("run-1/3", "2025-01-15T10:23:45Z", 3, "1.2", "completed"),
            completed=("1.2 Parse the header",),
            learnings=("first line\nsecond line",),
            areas=("src/parser",),
            notes=("[hooks.warning] python: too slow",),
        )
        assert append(file, first_entry)
        assert file.read_text() == (
            "## [2025-01-15T10:23:45Z] iteration 3 · task 1.2 · completed\n"
            "<!-- entry: run-1/3 -->\n"
            "- completed: 1.2 Parse the header\n"
            "- learning: first line second line\n"
            "- area: src/parser\n"
            "- [hooks.warning] python: too slow\n"
            "\n"
        )

    def test_the_same_entry_is_appended_once(self, file: Path) -> None:
        assert [append(file, entry(1)), append(file, entry(11)), append(file, entry(1))] == [True, True, False]
        assert file.read_text().count("## ") == 2

    def test_after_a_line_without_its_end(self, file: Path) -> None:
        file.write_text("an agent's note")
        append(file, entry(1))
        assert file.read_text().startswith("an agent's note\n## [")

    def test_a_key_cannot_break_out_of_its_comment(self, file: Path) -> None:
        evil = ProgressEntry("a --> b\n## [x]", "t", 1, "1", "completed")
        append(file, evil)
        assert not append(file, evil)
        assert file.read_text().count("-->") == 1

    def test_what_a_terminal_would_act_on_is_written_as_an_escape(self, file: Path) -> None:
        copies_to_the_clipboard = "\x1b]52;c;ZXZpbA==\x07"
        append(file, entry(1, completed=(f"1 {copies_to_the_clipboard}",), notes=("\x9b2J", "\u202eevil")))
        lines = file.read_text().splitlines()[2:5]
        assert lines == [r"- completed: 1 \x1b]52;c;ZXZpbA==\x07", r"- \x9b2J", r"- \u202eevil"]

    def test_a_link_is_not_followed(self, file: Path, tmp_path: Path) -> None:
        file.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UnsafePath, match="is a symbolic link"):
            append(file, entry(1))

    def test_a_named_pipe_is_refused_in_plain_words(self, file: Path) -> None:
        os.mkfifo(file)
        with pytest.raises(UnsafePath, match=r"`.*/progress.md` is a pipe, a socket or a device"):
            append(file, entry(1))


class TestContext:
    def test_progress_context_lists_the_newest_first(self, file: Path) -> None:
        append(file, entry(1, learnings=("old",), completed=("1.1 One",), areas=("src/a",)))
        append(file, entry(2, learnings=("new",), completed=("1.2 Two",), areas=("src/b",)))
        assert context(file) == (
            "## Learnings\n- new\n- old\n\n"
            "## Completed\n- 1.2 Two\n- 1.1 One\n\n"
            "## Areas analysed\n- src/b\n- src/a\n\n"
        )

    def test_progress_context_is_empty_without_entries(self, file: Path) -> None:
        assert context(file) == ""
        file.write_text("just some text\n")
        assert context(file) == ""

    def test_other_shapes_are_read_too_and_hooks_lines_are_not(self, file: Path) -> None:
        file.write_text(
            "# Notes of an agent\n* **Learned**: one\n  - Learning: two\nLESSON: three\n- [x] done: 2.1\n"
            "- areas: src/x\n[hooks.warning] learning: no\n- [hooks.timing] learning: no\n"
            "learning without a colon\n- learning:\n- [hooks.warning] plugin: learning: no\n"
        )
        assert context(file) == (
            "## Learnings\n- three\n- two\n- one\n\n## Completed\n- 2.1\n\n## Areas analysed\n- src/x\n\n"
        )

    def test_a_completed_task_that_does_not_say_so_again(self, file: Path) -> None:
        append(file, entry(7))
        append(file, ProgressEntry("k", "t", 8, "1.8", "quality_failed"))
        assert context(file) == "## Completed\n- task 1.7\n\n"

    def test_the_same_learning_is_told_once(self, file: Path) -> None:
        for number in range(3):
            append(file, entry(number, learnings=("run make first",)))
        assert context(file).count("run make first") == 1

    def test_at_most_50_learnings_and_10_completions(self, file: Path) -> None:
        for number in range(80):
            append(file, entry(number, learnings=(f"l{number}",), completed=(f"c{number}",)))
        text = context(file, budget=100_000)
        assert text.count("- l") == 50
        assert text.count("- c") == 10
        assert "- (30 older)" in text
        assert "- (70 older)" in text
        assert text.index("- l79\n") < text.index("- l30\n")

    def test_it_stays_within_its_bytes(self, file: Path) -> None:
        for number in range(80):
            append(file, entry(number, learnings=("ü" * 300 + str(number),), areas=(f"area {number} " * 5,)))
        text = context(file)
        assert len(text.encode()) <= BUDGET
        assert "older)" in text
        assert text == context(file)

    def test_bytes_that_are_no_text(self, file: Path) -> None:
        file.write_bytes(b"- learning: \xff\x1b[31m\n")
        assert context(file) == "## Learnings\n- �\\x1b[31m\n\n"


class TestFailures:
    def failed(self, number: int, task: str, failure: str) -> ProgressEntry:
        return ProgressEntry(f"run-1/{number}", "t", number, task, "quality_failed", failures=(failure,))

    def test_a_failure_is_a_learning_with_the_id_of_its_task(self, file: Path) -> None:
        append(file, self.failed(1, "1.2", "`make test`: 1 != 2"))
        assert file.read_text().splitlines()[2] == "- failure: `make test`: 1 != 2"
        assert context(file) == "## Learnings\n- task 1.2: `make test`: 1 != 2\n\n"

    def test_a_failure_that_a_later_attempt_solved_is_no_learning(self, file: Path) -> None:
        append(file, self.failed(1, "1", "solved later"))
        append(file, self.failed(2, "2", "still open"))
        append(file, ProgressEntry("run-1/3", "t", 3, "1", "completed", learnings=("keep this",)))
        assert context(file) == "## Learnings\n- keep this\n- task 2: still open\n\n## Completed\n- task 1\n\n"

    def test_a_failure_after_the_task_was_completed_once_is_a_learning(self, file: Path) -> None:
        append(file, ProgressEntry("run-1/1", "t", 1, "1", "completed"))
        append(file, self.failed(2, "1", "broken again"))
        assert context(file).startswith("## Learnings\n- task 1: broken again\n")

    def test_what_an_agent_learned_stays_when_its_task_is_completed(self, file: Path) -> None:
        append(file, self.failed(1, "1", "solved later"))
        with file.open("a") as notes:
            notes.write("- learning: run make first\n")
        append(file, ProgressEntry("run-1/2", "t", 2, "1", "completed"))
        assert context(file) == "## Learnings\n- run make first\n\n## Completed\n- task 1\n\n"


class Killed(BaseException):
    pass


class DyingDisk(Disk):
    """Is killed at the n-th step."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def _step(self) -> None:
        if self._left == 0:
            raise Killed
        self._left -= 1

    def create(self, name: str, directory: int, mode: int) -> int:
        self._step()
        return super().create(name, directory, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._step()
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._step()
        super().fsync(fd)

    def replace(self, old: str, new: str, directory: int) -> None:
        self._step()
        super().replace(old, new, directory)

    def remove(self, name: str, directory: int) -> None:
        raise OSError  # a dead process tidies nothing up


class TestRotate:
    def fill(self, file: Path, entries: int, start: int = 0) -> None:
        for number in range(start, start + entries):
            append(file, entry(number, learnings=("one", "two")))  # 5 lines

    def test_a_named_pipe_is_neither_read_nor_waited_for(self, file: Path, tmp_path: Path) -> None:
        os.mkfifo(file)
        with pytest.raises(UnsafePath):
            rotate(file, tmp_path / "archive")
        with pytest.raises(UnsafePath):
            context(file)

    def test_up_to_500_lines_it_stays(self, file: Path, tmp_path: Path) -> None:
        assert rotate(file, tmp_path / "archive") is None
        self.fill(file, 100)
        assert rotate(file, tmp_path / "archive") is None
        assert not (tmp_path / "archive").exists()

    def test_past_500_the_newest_entries_stay_whole(self, file: Path, tmp_path: Path) -> None:
        self.fill(file, 101)
        before = file.read_text()
        archive = rotate(file, tmp_path / "archive")
        assert archive == tmp_path / "archive/progress-0001.md"
        text_before = file.read_text()
        assert archive.read_text() + text_before == before
        assert text_before.startswith("## [")
        assert len(text_before.splitlines()) == 250
        self.fill(file, 60, start=200)
        assert rotate(file, tmp_path / "archive") == tmp_path / "archive/progress-0002.md"
        assert archive.read_text() + text_before == before  # the first one was not touched

    def test_the_cut_is_at_the_next_entry(self, file: Path, tmp_path: Path) -> None:
        file.write_text("## a\n" + "x\n" * 300 + "## b\n" + "y\n" * 240)
        rotate(file, tmp_path / "archive")
        assert file.read_text() == "## b\n" + "y\n" * 240

    def test_without_entries_the_newest_lines_stay(self, file: Path, tmp_path: Path) -> None:
        file.write_text("".join(f"{number}\n" for number in range(600)))
        rotate(file, tmp_path / "archive")
        assert file.read_text() == "".join(f"{number}\n" for number in range(350, 600))

    def test_killed_at_any_step_nothing_is_lost_or_doubled(self, file: Path, tmp_path: Path) -> None:
        self.fill(file, 101)
        before = file.read_bytes()
        died = 0
        for step in range(50):
            file.write_bytes(before)
            archive = tmp_path / f"archive{step}"
            try:
                rotate(file, archive, DyingDisk(step))
            except Killed:
                died += 1
                assert b"".join(_archived(archive)) + file.read_bytes() in (
                    before,
                    b"".join(_archived(archive)) + before,
                )
                self.fill(file, 1, start=500 + step)  # the next iteration comes first
                rotate(file, archive)
                added = str(entry(500 + step, learnings=("one", "two"))).encode()
                assert b"".join(_archived(archive)) + file.read_bytes() == before + added
        assert died >= 8

    def test_rotation_keeps_the_permissions_of_progress_md(self, file: Path, tmp_path: Path) -> None:
        self.fill(file, 101)
        os.chmod(file, 0o600)
        rotate(file, tmp_path / "archive")
        assert file.stat().st_mode & 0o777 == 0o600


def _archived(directory: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted(directory.glob("*.md"))]
