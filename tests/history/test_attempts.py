"""What the work tree is before and after attempts, and whose changes are in it: real git, killed in between."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from samuel.base.decoding import decode_json
from samuel.files.atomic import Disk
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.history.attempts import NO_GIT, AttemptChanges, Attempts, AttemptStart, PutAway
from samuel.history.kept_attempts import kept_attempt, restore_plan
from samuel.history.path_set import PathSet, path_of, saved_name
from samuel.history.tree_state import TreeState

Plain = Callable[..., str]
FILES = {"app.py": "app\n", "tests/test_app.py": "test\n", "mine.txt": "mine\n"}
ENV = {"PATH": os.environ["PATH"]}


class Night:
    """A project with a run; `saved` is the state as it is on disk."""

    def __init__(self, root: Path, own: Path) -> None:
        self.root, self.own = root, own
        self.saved = b""

    def attempts(self, run: str = "run-1", disk: Disk | None = None) -> Attempts:
        """As a process that has just started sees it."""
        state = decode_json(self.saved, TreeState) if self.saved else None
        trees = Trees(Git(self.root, ENV), self.own, disk or Disk())
        return Attempts(trees, run, state)

    def save(self, attempts: Attempts) -> None:
        self.saved = msgspec.json.encode(attempts.state)

    def write(self, **files: str) -> None:
        for name, content in files.items():
            self[name.replace("__", "/").replace("_py", ".py").replace("_txt", ".txt")] = content

    def __setitem__(self, name: str, content: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(content)

    def __delitem__(self, name: str) -> None:
        (self.root / name).unlink()

    @property
    def files(self) -> dict[str, str]:
        paths = (path for path in self.root.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in paths
            if not str(path.relative_to(self.root)).startswith(".samuel/")
        }


@pytest.fixture
def night(tmp_path: Path, git: Plain) -> Night:
    root = tmp_path / "project"
    root.mkdir()
    night = Night(root, tmp_path / "own")
    git(root, "init", "-q", "-b", "main")
    for name, content in FILES.items():
        night[name] = content
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return night


@pytest.fixture
def run(night: Night) -> Attempts:
    run = night.attempts()
    run.begin()
    return run


class TestTasks:
    def test_next_task_begins_with_the_verified_tree_and_the_failed_one_is_kept(
        self, night: Night, run: Attempts, git: Plain
    ) -> None:
        run.start("1")
        night["app.py"] = "broken\n"
        night["debris/x.txt"] = "x\n"
        del night["tests/test_app.py"]
        observed = run.observe()
        assert [(change.path, change.status) for change in observed.changes] == [
            ("app.py", "M"),
            ("debris/x.txt", "A"),
            ("tests/test_app.py", "D"),
        ]
        away = run.put_away("1", 3)
        assert away == PutAway("refs/samuel/run-1/1/3", ("app.py", "debris/x.txt", "tests/test_app.py"))
        assert night.files == FILES
        assert not (night.root / "debris").exists()
        assert run.start("2") == AttemptStart(run.state.verified)
        listing = git(night.root, "show", "--format=", "--name-status", away.ref)
        assert listing.split() == ["M", "app.py", "A", "debris/x.txt", "D", "tests/test_app.py"]
        assert git(night.root, "status", "--porcelain") == ""

    def test_completed_work_is_what_the_next_task_begins_with(self, night: Night, run: Attempts) -> None:
        run.start("1")
        night["done.py"] = "done\n"
        run.observe()
        run.complete("1")
        run.start("2")
        night["done.py"] = "spoiled\n"
        night["app.py"] = "broken\n"
        run.observe()
        assert run.put_away("2", 1).restored == ("app.py", "done.py")
        assert night.files == {**FILES, "done.py": "done\n"}

    def test_accepted_work_is_merged_with_what_another_task_changed_in_the_same_file(
        self, night: Night, git: Plain
    ) -> None:
        lines = [f"line {number}\n" for number in range(12)]
        night["app.py"] = "".join(lines)
        git(night.root, "commit", "-q", "-a", "-m", "longer")
        run = night.attempts()
        run.begin()
        run.start("1")
        night["app.py"] = "".join(["first\n", *lines[1:]])
        night["mine.txt"] = "expects first\n"
        run.observe()
        run.put_away("1", 1)
        run.start("2")
        night["app.py"] = "".join([*lines, "last\n"])
        run.observe()
        run.complete("2")
        assert run.start("1", "accepted").conflicts == ()
        assert night.files["app.py"] == "".join(["first\n", *lines[1:], "last\n"])
        assert night.files["mine.txt"] == "expects first\n"

    def test_accepted_work_in_conflict_is_not_taken_by_halves(self, night: Night, run: Attempts) -> None:
        run.start("1")
        night["app.py"] = "one\n"
        night["tests/test_app.py"] = "expects one\n"
        run.observe()
        run.put_away("1", 1)
        run.start("2")
        night["app.py"] = "two\n"
        run.observe()
        run.complete("2")
        assert run.start("1", "accepted").conflicts == ("app.py",)
        assert night.files == {**FILES, "app.py": "two\n"}

    def test_retry_goes_on_with_what_is_in_place(self, night: Night, run: Attempts) -> None:
        run.start("1")
        night["half.py"] = "half\n"
        run.observe()
        assert run.keep("1", 1) == "refs/samuel/run-1/1/1"
        start = run.start("1")
        assert start.restored == ()
        night["rest.py"] = "rest\n"
        observed = run.observe()
        assert observed.paths == ("rest.py",)
        assert [change.path for change in observed.changes] == ["half.py", "rest.py"]

    def test_retry_after_another_task_gets_its_changes_back(self, night: Night, run: Attempts) -> None:
        run.start("1")
        night["half.py"] = "half\n"
        night["app.py"] = "of task 1\n"
        run.observe()
        run.keep("1", 1)
        run.start("2")
        assert night.files == FILES
        night["app.py"] = "of task 2\n"
        run.observe()
        run.complete("2")
        assert run.start("1").restored == ("half.py",)
        # What another task completed meanwhile is not overwritten.
        assert night.files == {**FILES, "half.py": "half\n", "app.py": "of task 2\n"}

    def test_retry_puts_protected_files_back(self, night: Night, run: Attempts) -> None:
        run.start("1")
        night["half.py"] = "half\n"
        night["tests/test_app.py"] = "assert True\n"
        night["tests/conftest.py"] = "skip everything\n"
        run.observe()
        run.keep("1", 1)
        start = run.start("1", "continue", lambda path: path.startswith("tests/"))
        assert start.restored == ("tests/conftest.py", "tests/test_app.py")
        assert night.files == {**FILES, "half.py": "half\n"}

    def test_fresh_retry_starts_clean_and_can_read_what_was_tried(self, night: Night, run: Attempts) -> None:
        run.start("1")
        night["half.py"] = "half\n"
        run.observe()
        run.keep("1", 1)
        assert run.start("1", "fresh").restored == ("half.py",)
        assert night.files == FILES
        git = Git(night.root, ENV)
        for ref in (kept_attempt(git, "run-1", "1"), kept_attempt(git, None, "1", 1)):
            assert ref is not None
            assert b"+half\n" in git.run("show", ref.commit)
        assert kept_attempt(git, None, "2") is None

    def test_attempt_without_a_change_has_no_ref(self, night: Night, run: Attempts) -> None:
        run.start("1")
        assert run.observe().changes == ()
        assert run.keep("1", 1) == ""
        assert run.put_away("1", 1) == PutAway()

    def test_verified_tree_survives_garbage_collection_from_the_start_of_the_run(
        self, night: Night, git: Plain
    ) -> None:
        night["app.py"] = "a person's\n"
        run = night.attempts()
        run.begin()
        night["app.py"] = "something else\n"
        git(night.root, "gc", "-q", "--prune=now")
        assert Trees(Git(night.root, ENV), night.own).content(run.state.verified, "app.py") == b"a person's\n"

    @pytest.mark.slow
    def test_trees_survive_garbage_collection(self, night: Night, run: Attempts, git: Plain) -> None:
        night["untracked.txt"] = "a person's\n"
        run.begin()
        run.start("1")
        night["half.py"] = "half\n"
        run.observe()
        run.put_away("1", 1)
        git(night.root, "gc", "-q", "--prune=now")
        night.save(run)
        again = night.attempts()
        again.start("2")
        night["app.py"] = "broken\n"
        again.observe()
        again.put_away("2", 1)
        assert again.start("1").restored == ("half.py",)
        assert night.files == {**FILES, "half.py": "half\n", "untracked.txt": "a person's\n"}


class TestPerson:
    def test_files_that_were_dirty_before_are_never_written(self, night: Night) -> None:
        night["mine.txt"] = "being edited\n"
        night["notes/idea.txt"] = "idea\n"
        run = night.attempts()
        assert run.begin() == ("mine.txt", "notes/idea.txt")
        run.start("1")
        night["mine.txt"] = "changed by the agent\n"
        night["app.py"] = "broken\n"
        del night["notes/idea.txt"]
        assert run.observe().person == ("mine.txt", "notes/idea.txt")
        away = run.put_away("1", 1)
        assert (away.restored, away.person) == (("app.py",), ("mine.txt", "notes/idea.txt"))
        assert night.files == {**FILES, "mine.txt": "changed by the agent\n"}
        assert run.start("2").restored == ()

    def test_what_a_person_had_not_committed_is_kept_in_a_ref(self, night: Night, git: Plain) -> None:
        night["mine.txt"] = "being edited\n"
        night["idea.txt"] = "idea\n"
        run = night.attempts()
        run.begin()
        run.start("1")
        night["mine.txt"] = FILES["mine.txt"]  # `git checkout .` and `git clean -fd`
        del night["idea.txt"]
        run.observe()
        run.complete("1")
        night["later.txt"] = "by the person, between two attempts\n"
        run.start("2")
        del night["later.txt"]
        run.observe()
        run.complete("2")
        git(night.root, "gc", "--prune=now", "-q")
        assert git(night.root, "show", f"{run.person_ref}:later.txt").startswith("by the person")
        assert git(night.root, "show", f"{run.person_ref}~1:mine.txt").strip() == "being edited"
        assert git(night.root, "show", f"{run.person_ref}~1:idea.txt").strip() == "idea"

    def test_what_the_first_checks_format_is_not_the_persons(self, night: Night, run: Attempts) -> None:
        night["app.py"] = "formatted by a check\n"
        night["cache.txt"] = "cache\n"
        run.accept_checks()
        run.start("1")
        assert [run.is_persons(path) for path in ("app.py", "cache.txt")] == [False, True]
        night["app.py"] = "broken\n"
        run.observe()
        assert run.put_away("1", 1).restored == ("app.py",)
        assert night.files == {**FILES, "app.py": "formatted by a check\n", "cache.txt": "cache\n"}

    def test_edit_between_two_attempts_is_the_persons(self, night: Night, run: Attempts) -> None:
        run.start("1")
        night["half.py"] = "half\n"
        run.observe()
        run.keep("1", 1)
        night["mine.txt"] = "edited while the loop waits\n"
        night["half.py"] = "corrected by a person\n"
        start = run.start("2")
        assert start.appeared == ("half.py", "mine.txt")
        assert start.restored == ()
        assert night.files == {
            **FILES,
            "half.py": "corrected by a person\n",
            "mine.txt": "edited while the loop waits\n",
        }
        night["app.py"] = "broken\n"
        run.observe()
        assert run.put_away("2", 1).restored == ("app.py",)
        assert night.files["mine.txt"] == "edited while the loop waits\n"

    def test_commit_of_a_person_between_two_attempts_is_taken_in(
        self, night: Night, run: Attempts, git: Plain
    ) -> None:
        night["app.py"] = "fixed by a person\n"
        git(night.root, "commit", "-qam", "a fix")
        assert run.start("1").appeared == ("app.py",)
        assert run.state.person == ()
        night["app.py"] = "broken\n"
        run.observe()
        run.put_away("1", 1)
        assert night.files["app.py"] == "fixed by a person\n"

    def test_persons_directory_is_not_replaced_by_a_file(self, night: Night, run: Attempts) -> None:
        del night["mine.txt"]
        night["mine.txt/inner"] = "now a directory\n"
        run = night.attempts()
        assert run.begin() == ("mine.txt", "mine.txt/inner")
        shutil.rmtree(night.root / "mine.txt")
        run.start("1")
        night["mine.txt"] = "of the agent\n"
        run.observe()
        run.put_away("1", 1)
        assert night.files == {**FILES, "mine.txt": "of the agent\n"}

    def test_next_run_tells_its_own_leftovers_from_a_persons_changes(
        self, night: Night, run: Attempts, git: Plain
    ) -> None:
        run.start("1")
        night.write(left_py="left\n", edited_py="left\n", taken_py="left\n", app_py="of the attempt\n")
        run.observe()
        run.keep("1", 1)  # and then the run is stopped
        night.save(run)
        night["edited.py"] = "edited afterwards\n"
        night["mine.txt"] = "edited afterwards\n"
        git(night.root, "add", "taken.py")
        git(night.root, "commit", "-qm", "taken over", "taken.py")
        previous = decode_json(night.saved, TreeState)
        next_run = Attempts(Trees(Git(night.root, ENV), night.own), "run-2")
        assert next_run.begin(previous) == ("edited.py", "mine.txt")
        assert next_run.start("2").restored == ("app.py", "left.py")
        assert night.files == {
            **FILES,
            "edited.py": "edited afterwards\n",
            "mine.txt": "edited afterwards\n",
            "taken.py": "left\n",
        }
        assert next_run.start("1").restored == ("app.py", "left.py")

    def test_completed_work_that_is_not_committed_is_not_the_persons_in_the_next_run(
        self, night: Night, run: Attempts
    ) -> None:
        run.start("1")
        night["done.py"] = "done\n"
        run.observe()
        run.complete("1")
        next_run = Attempts(Trees(Git(night.root, ENV), night.own), "run-2")
        assert next_run.begin(run.state) == ()
        next_run.start("2")
        assert night.files == {**FILES, "done.py": "done\n"}
        night["done.py"] = "spoiled\n"
        next_run.observe()
        next_run.put_away("2", 1)
        assert night.files == {**FILES, "done.py": "done\n"}

    def test_state_of_an_earlier_run_whose_objects_are_gone_is_not_used(self, night: Night) -> None:
        night["app.py"] = "dirty\n"
        previous = TreeState(verified="1" * 40, left="2" * 40, owned=("app.py",))
        assert night.attempts().begin(previous) == ("app.py",)

    def test_names_that_are_not_utf8_are_saved(self, night: Night) -> None:
        name = os.fsdecode(b"caf\xe9")
        night[name] = "a person's\n"
        run = night.attempts()
        assert run.begin() == (name,)
        night.save(run)
        again = night.attempts()
        again.start("1")
        night[name] = "changed\n"
        assert again.observe().person == (name,)
        again.put_away("1", 1)
        assert night.files[name] == "changed\n"
        assert path_of(saved_name(name)) == name


class Killed(BaseException):
    pass


class DyingDisk(Disk):
    def __init__(self, last: int) -> None:
        self._left = last

    def _count(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise Killed

    def replace(self, old: str, new: str, directory: int) -> None:
        self._count()
        super().replace(old, new, directory)

    def remove(self, name: str, directory: int) -> None:
        self._count()
        super().remove(name, directory)


class TestKill:
    def test_changes_of_an_agent_that_was_killed_are_its_own(self, night: Night, run: Attempts) -> None:
        night["mine.txt"] = "being edited\n"
        run.begin()
        run.start("1")
        night.save(run)
        night["half.py"] = "half\n"
        again = night.attempts()
        again.resume()
        assert again.start("1").restored == ()
        again.observe()
        again.put_away("1", 1)
        assert night.files == {**FILES, "mine.txt": "being edited\n"}

    def test_kill_between_two_attempts_does_not_make_a_persons_edit_samuels(
        self, night: Night, run: Attempts
    ) -> None:
        run.start("1")
        run.observe()
        run.put_away("1", 1)
        night.save(run)
        night["mine.txt"] = "edited afterwards\n"
        again = night.attempts()
        again.resume()
        assert again.start("2").appeared == ("mine.txt",)

    @pytest.mark.parametrize("step", range(1, 5))
    @pytest.mark.sampled(every=2)
    def test_put_away_killed_at_any_write_is_finished_by_repeating_it(
        self, night: Night, run: Attempts, step: int
    ) -> None:
        run.start("1")
        night.write(app_py="broken\n", x__y_py="y\n", z_py="z\n")
        del night["tests/test_app.py"]
        tree = run.observe().tree
        night.save(run)
        with pytest.raises(Killed):
            night.attempts(disk=DyingDisk(step)).put_away("1", 1)
        again = night.attempts()
        assert again.put_away("1", 1).ref == "refs/samuel/run-1/1/1"
        assert night.files == FILES
        assert again.state.person == ()
        ref = kept_attempt(Git(night.root, ENV), "run-1", "1")
        assert ref is not None
        assert ref.tree == tree  # not what a half-restored work tree looks like

    @pytest.mark.slow
    @pytest.mark.parametrize("saved", ["before", "after"])
    @pytest.mark.parametrize("step", range(1, 4))
    @pytest.mark.sampled(every=3)
    def test_start_killed_at_any_write_is_finished_by_the_next(
        self, night: Night, run: Attempts, step: int, saved: str
    ) -> None:
        """The work of task 1 is to come back, that of task 2 to go."""
        run.start("1")
        night.write(one_py="1\n", app_py="of task 1\n")
        run.observe()
        run.keep("1", 1)
        run.start("2")
        night.write(two_py="2\n")
        run.observe()
        run.keep("2", 1)
        night.save(run)
        with pytest.raises(Killed):
            night.attempts(disk=DyingDisk(step)).start("1")
        again = night.attempts()
        again.resume()
        if saved == "after":
            night.save(again)
            again = night.attempts()
        assert again.start("1").appeared == ()
        assert night.files == {**FILES, "one.py": "1\n", "app.py": "of task 1\n"}
        assert again.state.person == ()
        assert again.start("2").restored == ("app.py", "one.py", "two.py")

    def test_complete_can_be_repeated(self, night: Night, run: Attempts, git: Plain) -> None:
        run.start("1")
        night["done.py"] = "done\n"
        run.observe()
        night.save(run)
        git(night.root, "add", "done.py")
        git(night.root, "commit", "-qm", "1")
        run.complete("1")
        again = night.attempts()
        assert again.complete("1") == run.state.verified
        assert again.state == run.state


class TestWithoutGit:
    def test_nothing_is_done_and_it_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "plain").mkdir()
        for trees in (None, Trees(Git(tmp_path / "plain", ENV), tmp_path / "own")):
            run = Attempts(trees, "run-1")
            assert run.unavailable == NO_GIT
            assert run.begin() == ()
            run.resume()
            assert run.start("1") == AttemptStart()
            assert run.observe() == AttemptChanges()
            assert run.keep("1", 1) == ""
            assert run.put_away("1", 1) == PutAway()
            assert run.complete("1") == ""
            assert run.state == TreeState()
        assert kept_attempt(Git(tmp_path / "plain", ENV), None, "1") is None
        assert not (tmp_path / "own").exists()

    def test_repository_that_an_agent_made_is_used_from_the_next_run_on(self, tmp_path: Path, git: Plain) -> None:
        root = tmp_path / "plain"
        root.mkdir()
        run = Attempts(Trees(Git(root, ENV), tmp_path / "own"), "run-1")
        run.begin()
        git(root, "init", "-q")
        (root / "x").write_text("x")
        assert Attempts(Trees(Git(root, ENV), tmp_path / "own"), "run-1", run.state).put_away("1", 1) == PutAway()
        assert (root / "x").exists()


def test_restore_plan_names_what_changed_since(night: Night, run: Attempts) -> None:
    run.start("1")
    night.write(app_py="of the attempt\n", new_py="new\n", mine_txt="of the attempt\n")
    run.observe()
    run.put_away("1", 1)
    night["mine.txt"] = "edited\n"
    night["new.py"] = "new\n"
    ref = kept_attempt(Git(night.root, ENV), None, "1")
    assert ref is not None
    plan = restore_plan(Trees(Git(night.root, ENV), night.own), ref)
    assert (plan.paths, plan.conflicts) == (("app.py",), ("mine.txt",))


def test_path_set_knows_paths_above_and_below() -> None:
    paths = PathSet(["a/b", "c"])
    assert [path for path in ("a", "a/b", "a/b/x", "c/d/e", "ab", "a/bc", "d") if paths.touches(path)] == [
        *("a", "a/b", "a/b/x", "c/d/e")
    ]
