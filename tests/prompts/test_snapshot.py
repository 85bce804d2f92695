from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import toons

from samuel.base.clock import FakeClock, SystemClock
from samuel.git.git import Git
from samuel.process import environment
from samuel.prompts import file_facts, file_list, progress
from samuel.prompts import task_context as task
from samuel.prompts.snapshot import BUDGET, take, to_toon


class Later(SystemClock):
    """A minute ahead: every file is old enough to be believed."""

    @staticmethod
    def now() -> float:
        return time.time() + 60


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read, in order: the one thing a cache is for."""
    paths_read: list[str] = []
    real = file_facts.FactsReader.read

    def read(reader: file_facts.FactsReader, path: bytes) -> object:
        paths_read.append(os.fsdecode(path))
        return real(reader, path)

    monkeypatch.setattr(file_facts.FactsReader, "read", read)
    return paths_read


class TestOnlyWhatChangedIsReadAgain:
    @pytest.fixture(autouse=True)
    def _cached_snapshot(self, project: object, reads: list[str]) -> None:
        for number in range(20):
            project.write(f"src/file{number}.py", "a\n" * number)
        project.commit()
        take(project.root, project.ours, project.cache, Later())
        assert len(reads) == 20
        reads.clear()

    def again(self, project: object) -> object:
        return take(project.root, project.ours, project.cache, Later())

    def test_snapshot_of_an_unchanged_project_reads_no_file(self, project: object, reads: list[str]) -> None:
        before = self.again(project)
        assert self.again(project) == before
        assert reads == []

    def test_a_changed_file_a_new_one_and_a_deleted_one(self, project: object, reads: list[str]) -> None:
        project.write("src/file3.py", "# TODO\n" * 7)
        project.write("src/new.py", "x\n")
        (project.root / "src/file5.py").unlink()
        first, second = self.again(project), self.again(project)
        assert first == second
        assert (first.files, first.lines, first.changed) == (20, 190 - 3 + 7 + 1 - 5, 2)
        assert sorted(reads) == ["src/file3.py", "src/new.py"]

    def test_snapshot_after_a_commit_of_changed_files_is_right(self, project: object, reads: list[str]) -> None:
        project.write("src/file3.py", "x\n")
        self.again(project)
        project.commit()
        snapshot = self.again(project)
        assert (snapshot.lines, snapshot.changed) == (190 - 3 + 1, 0)
        assert reads == ["src/file3.py"] * 2  # once as a file, once as what git has
        assert self.again(project) == snapshot
        assert len(reads) == 2

    def test_a_change_is_taken_back(self, project: object, reads: list[str]) -> None:
        before = self.again(project)
        project.write("src/file3.py", "something else\n" * 50)
        assert self.again(project) != before
        project.write("src/file3.py", "a\n" * 3)
        assert self.again(project) == before
        assert reads == ["src/file3.py"]

    def test_a_change_that_was_there_at_first_is_taken_back(self, project: object, tmp_path: Path) -> None:
        project.write("src/file3.py", "something else\n" * 50)
        (project.root / "src/file4.py").unlink()
        take(project.root, project.ours, tmp_path / "another", Later())
        project.git("checkout", "-q", ".")
        assert take(project.root, project.ours, tmp_path / "another", Later()) == self.again(project)

    def test_a_file_that_changed_a_moment_ago_is_not_believed(self, project: object, reads: list[str]) -> None:
        project.write("src/file3.py", "1\n")
        clock = FakeClock(time.time())  # it stands still: on a busy machine a moment is over before the snapshot
        for _ in range(2):
            take(project.root, project.ours, project.cache, clock)
        assert reads == ["src/file3.py"] * 2

    def test_a_touched_index_costs_no_reading(self, project: object, reads: list[str]) -> None:
        os.utime(project.root / "src/file3.py")
        project.git("status")  # git writes the new time into its index
        self.again(project)
        assert reads == []

    @pytest.mark.parametrize("damage", [b"", b"nonsense", b"\0" * 100])
    def test_a_damaged_cache_costs_time_and_nothing_else(self, project: object, damage: bytes) -> None:
        before = self.again(project)
        for file in project.cache.rglob("*.*"):
            file.write_bytes(damage)
        assert self.again(project) == before

    def test_a_torn_cache_is_noticed(self, project: object, reads: list[str]) -> None:
        before = self.again(project)
        file = next(project.cache.rglob("*.tracked"))
        data = bytearray(file.read_bytes())
        data[-30] ^= 1
        file.write_bytes(data)
        assert self.again(project) == before
        assert len(reads) == 20

    def test_a_cache_that_cannot_be_written(self, project: object, tmp_path: Path) -> None:
        before = self.again(project)
        (tmp_path / "file").touch()
        assert take(project.root, project.ours, tmp_path / "file", Later()) == before

    def test_nobody_else_can_read_it(self, project: object) -> None:
        for file in project.cache.rglob("*.*"):
            assert file.stat().st_mode & 0o077 == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_is_remembered_is_what_is_there(project: object, tmp_path: Path, seed: int) -> None:
    """Any history of edits: with a cache from the beginning, and with none."""
    dice = random.Random(seed)
    names = [
        f"{folder}/{stem}.{end}"
        for folder in ("a", "b/tests")
        for stem in ("x", "test_x", "y")
        for end in ("py", "rs")
    ]

    def edit() -> None:
        path = dice.choice(names)
        text = dice.choice(["", "TODO\n", "#[cfg(test)]\n", "\0", "one\ntwo"]) * dice.randrange(3)
        project.write(path, text)

    def delete() -> None:
        (project.root / dice.choice(names)).unlink(missing_ok=True)

    steps: list[Callable[[], object]] = [
        *(edit, edit, edit, delete),
        lambda: project.git("add", "--all"),
        project.commit,
        lambda: project.git("reset", "-q"),
        lambda: project.git("checkout", "-q", "."),
        lambda: project.write(".gitignore", dice.choice(["", "b/\n", "*.rs\n"])),
    ]
    edit()
    project.commit()
    for number in range(25):
        for _ in range(dice.randrange(1, 4)):
            dice.choice(steps)()
        assert project.snapshot() == project.afresh(tmp_path / f"fresh{number}"), number


class TestWhatCounts:
    def test_without_git_it_walks_and_leaves_out_what_is_usually_ignored(self, tmp_path: Path) -> None:
        root = tmp_path / "plain"
        for path in ("a.py", "deep/er/b.py", "node_modules/x.js", ".venv/y.py", ".samuel/run/progress.md"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("x\n")
        (root / "loop").symlink_to(root)
        os.mkfifo(root / "pipe")
        snapshot = take(root, Git(root, environment.clean()), tmp_path / "cache")
        assert (snapshot.files, snapshot.head, snapshot.cut) == (2, "", False)
        assert set(snapshot.listed) == {"a.py", "deep/er/b.py"}
        assert "branch" not in to_toon(snapshot)

    def test_walk_without_git_stops_at_its_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(file_list, "MOST_WALKED", 10)
        root = tmp_path / "plain"
        for number in range(15):
            (root / f"{number:02}").mkdir(parents=True)
            (root / f"{number:02}/x.py").touch()
        snapshot = take(root, Git(root, environment.clean()), tmp_path / "cache")
        assert (snapshot.files, snapshot.cut) == (10, True)
        assert "more_files: true" in to_toon(snapshot)

    def test_no_git_at_all(self, project: object) -> None:
        project.write("a.py")
        snapshot = take(project.root, Git(project.root, {"PATH": "/nowhere"}), project.cache)
        assert snapshot.files == 1

    def test_a_broken_repository_is_still_a_directory(self, project: object) -> None:
        project.write("a.py")
        project.commit()
        (project.root / ".git/index").write_bytes(b"nonsense")
        assert project.snapshot().files == 1

    def test_links_submodules_and_our_own_notes_are_no_files(
        self, project: object, tmp_path: Path, git: Callable[..., str]
    ) -> None:
        git(tmp_path, "init", "-q", "other")
        git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "x")
        project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"))
        (project.root / "link.py").symlink_to("/etc/passwd")
        project.write(".samuel/run/progress.md", "TODO\n")
        project.write(".samuel/hooks/mine", "#!/bin/sh\n")
        project.commit()
        project.git("rm", "-q", "--cached", ".samuel/run/progress.md")
        (project.root / "another.py").symlink_to("/etc/passwd")
        assert set(project.snapshot().listed) == {".gitmodules", ".samuel/hooks/mine"}

    def test_a_project_inside_a_repository_is_that_directory(self, project: object) -> None:
        project.write("outside.py")
        project.write("inner/a.py", "x\n")
        project.commit("both")
        project.write("inner/a.py", "x\ny\n")
        project.write("inner/b.py", "x\n")
        inner = project.root / "inner"
        snapshot = take(inner, Git(inner, environment.clean({"HOME": str(project.root)})), project.cache)
        assert (snapshot.files, snapshot.lines, snapshot.changed) == (2, 3, 2)
        assert set(snapshot.listed) == {"a.py", "b.py"}

    def test_huge_and_binary_files_have_no_lines(self, project: object) -> None:
        project.write("dump.sql", "TODO\n" * (file_facts.HUGE // 5 + 1))
        project.write("binary.py", b"TODO\n\0")
        project.write("large.py", "TODO\n" * 100_000)
        snapshot = project.snapshot()
        assert [(row.path, row.lines) for row in snapshot.largest] == [("dump.sql", None), ("large.py", 100_000)]
        assert [(row.path, row.todo) for row in snapshot.todos] == [("large.py", 100_000)]
        assert snapshot.files == 3

    def test_what_git_is_told_not_to_look_at_is_looked_at(self, project: object) -> None:
        for name in ("kept.py", "hidden.py", "sparse.py"):
            project.write(name, "1\n")
        project.commit()
        project.git("update-index", "--assume-unchanged", "kept.py")
        project.git("update-index", "--skip-worktree", "hidden.py", "sparse.py")
        project.snapshot()
        project.write("kept.py", "1\n2\n")
        project.write("hidden.py", "1\n2\n3\n")
        (project.root / "sparse.py").unlink()
        snapshot = project.snapshot()
        assert (snapshot.files, snapshot.lines) == (2, 5)

    def test_what_is_being_worked_on_is_listed_first(self, project: object) -> None:
        for number in range(250):
            project.write(f"deep/down/file{number:03}.txt")
        project.write("README.md")
        project.commit("all")
        project.write("deep/down/file200.txt", "committed\n")
        project.commit("one")
        project.write("deep/down/file210.txt", "older\n")
        os.utime(project.root / "deep/down/file210.txt", (1, 1))
        project.write("new.txt", "newer\n")
        listed = project.snapshot().listed
        assert listed[:4] == ("new.txt", "deep/down/file210.txt", "deep/down/file200.txt", "README.md")
        assert len(listed) == 200

    def test_names_of_any_bytes(self, project: object) -> None:
        names = [os.fsdecode(name) for name in (b"new\nline.py", b"\xff.py", b"es\x1b[31mcape.py", b"a,b:c.py")]
        for name in names:
            project.write(name, "# TODO\n")
        snapshot = project.snapshot()
        assert set(snapshot.listed) == set(names)
        project.commit()
        assert set(project.snapshot().listed) == set(names)
        paths = {row["path"] for row in toons.loads(to_toon(snapshot))["todos"]}
        assert paths == {r"new\nline.py", r"\udcff.py", r"es\x1b[31mcape.py", "a,b:c.py"}


class TestToon:
    @pytest.fixture
    def large(self, project: object) -> object:
        dice = random.Random(1)
        for number in range(1500):
            path = f"packages/component-{number % 37}/source/{'deep/' * (number % 4)}module_number_{number}.py"
            project.write(path, "# TODO something\n" * dice.randrange(1, 30))
        for number in range(12):
            project.write("a.txt", str(number))
            project.commit(f"A commit with a subject that is as long as most of them are, number {number}")
        return project

    @pytest.mark.slow
    def test_it_reads_back_and_says_what_was_left_out(self, large: object) -> None:
        snapshot = large.snapshot()
        text = to_toon(snapshot)
        assert len(text.encode()) <= BUDGET
        data = toons.loads(text)
        assert data["project"] == {"files": 1501, "lines": snapshot.lines, "branch": "main", "changed_files": 0}
        assert data["largest"][0] == snapshot.largest[0]._asdict()
        counts = {"todos": 1500, "test_gaps": 1500, "files_by_directory": 1501, "largest": 15, "commits": 10}
        for name, total in counts.items():
            rows = data[name]
            listed = sum(map(len, rows.values())) if isinstance(rows, dict) else len(rows)
            assert listed > 0
            assert listed + data["left_out"].get(name, 0) == total
        assert to_toon(large.snapshot()) == text

    @pytest.mark.slow
    def test_one_iterations_context_is_below_5_kb(self, large: object, tmp_path: Path) -> None:
        notes = tmp_path / "progress.md"
        for number in range(40):
            progress.append(
                notes,
                progress.ProgressEntry(
                    *(f"run/{number}", "2025-01-15T10:23:45Z", number, f"1.{number}", "completed"),
                    completed=(f"1.{number} A task with a title of the usual length",),
                    learnings=(f"Number {number}: what one learns in an iteration, in a sentence or two.",),
                    areas=(f"packages/component-{number}",),
                ),
            )
        tasks = [
            {"id": f"1.{number}", "title": f"A task with a title of the usual length, number {number}"}
            | {"status": "completed" if number < 30 else "pending", "parent_id": "1", "attempts": 1}
            | {"last_failure": "E   AssertionError: something\n" * 100, "depends_on": ["1.1", "1.2"]}
            | {"description": "What is to be done, in three sentences. " * 5}
            for number in range(60)
        ]
        now = task.implementation(tasks[40], tasks, {"max_file_lines": 300})
        whole = to_toon(large.snapshot()) + progress.context(notes) + now
        assert len(whole.encode()) < 5000 + task.FAILURE_TAIL  # the failure is there only after one
        del tasks[40]["last_failure"]
        now = task.implementation(tasks[40], tasks, {"max_file_lines": 300})
        whole = to_toon(large.snapshot()) + progress.context(notes) + now
        assert 4000 < len(whole.encode()) < 5000

    def test_everything_is_there_when_it_fits(self, project: object) -> None:
        project.write("src/a.py", "# TODO\nx\n")
        project.commit("first")
        data = toons.loads(to_toon(project.snapshot()))
        assert list(data) == [
            *("project", "languages", "commits", "largest", "test_gaps", "todos", "files_by_directory"),
        ]
        assert data["test_gaps"] == data["files_by_directory"] == {"src": ["a.py"]}
        assert data["languages"] == [{"name": "Python", "files": 1, "lines": 2}]

    def test_an_empty_project(self, project: object) -> None:
        assert toons.loads(to_toon(project.snapshot())) == {"project": {"files": 0, "lines": 0}}

    def test_another_project_in_the_same_place_is_another(self, project: object, git: Callable[..., str]) -> None:
        project.write("a.py")
        project.commit()
        project.snapshot()
        shutil.rmtree(project.root / ".git")
        (project.root / "a.py").unlink()
        project.write("b.go", "1\n2\n")
        git(project.root, "init", "-q")
        assert project.snapshot().listed == ("b.go",)
