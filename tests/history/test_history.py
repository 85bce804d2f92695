"""The history of runs: what is recorded is there again, also after a kill in the middle of a line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from samuel.base.errors import SamuelError, UsageError
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.files.atomic import Disk
from samuel.history import history as module
from samuel.history.attempt_record import AttemptRecord, ChangedFile, CheckRecord, RunRecord
from samuel.history.history import History, shortest_prefix
from samuel.history.run_logs import remove_old_logs
from samuel.tasks.question import Question
from samuel.tasks.task import Task


def run_record(run_id: str = "run-1", started_at: float = 10.0, **fields: object) -> RunRecord:
    return RunRecord(run_id=run_id, methodology="ralph", agents=("mine",), started_at=started_at, **fields)  # type: ignore[arg-type]


def attempt(iteration: int = 1, run_id: str = "run-1", **fields: object) -> AttemptRecord:
    return AttemptRecord(run_id=run_id, iteration=iteration, task_id="1", **fields)  # type: ignore[arg-type]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "record" / "history")


def file_of(tmp_path: Path, run_id: str = "run-1") -> Path:
    return tmp_path / "record" / "history" / f"{run_id}.jsonl"


def test_a_run_is_loaded_as_it_was_recorded(history: History) -> None:
    check = CheckRecord(command="make", passed=False, exit_code=2, seconds=1.5, output_tail="red\n")
    first = attempt(1, outcome=IterationOutcome.QUALITY_FAILED, checks=(check,), why="`make` failed")
    second = attempt(2, outcome=IterationOutcome.COMPLETED, changed_files=(ChangedFile(path="a", added=1),))
    ended = run_record(ended_at=20.0, exit_reason=ExitReason.QUEUE_EMPTY, usage={"cost_usd": 0.5})
    history.begin(run_record())
    history.add(first)
    history.add(second)
    history.end(ended)
    assert history.load("run-1") == (ended, (first, second))


def test_an_iteration_that_is_added_again_counts_once_and_the_last_record_counts(history: History) -> None:
    history.begin(run_record())
    history.add(attempt(1, why="killed"))
    history.add(attempt(2))
    history.add(attempt(1, why="done again"))
    assert [(record.iteration, record.why) for record in history.load("run-1").attempts] == [
        (1, "done again"),
        (2, ""),
    ]


@pytest.mark.slow
def test_a_line_that_a_kill_cut_short_is_skipped_and_the_next_one_is_whole(
    history: History, tmp_path: Path
) -> None:
    history.begin(run_record())
    history.add(attempt(1))
    whole = file_of(tmp_path).read_bytes()
    for length in range(whole.index(b"\n") + 1, len(whole)):
        file_of(tmp_path).write_bytes(whole[:length])
        again = History(tmp_path / "record" / "history")
        again.add(attempt(2))
        assert [record.iteration for record in again.load("run-1").attempts][-1] == 2
        assert again.load("run-1").run == run_record()


def test_every_record_is_written_through_the_disk_that_a_test_can_fail(tmp_path: Path) -> None:
    class FullDisk(Disk):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        History(tmp_path / "history", FullDisk()).begin(run_record())


def test_runs_are_listed_from_the_newest_to_the_oldest(history: History) -> None:
    for run_id, started_at in (("run-9", 1.0), ("run-10", 2.0), ("run-11", 3.0)):
        history.begin(run_record(run_id, started_at))
    assert [run.run_id for run in history.runs()] == ["run-11", "run-10", "run-9"]


def test_the_oldest_runs_are_forgotten_when_there_are_too_many(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 3)
    for number in range(5):
        history.begin(run_record(f"run-{number}", float(number)))
    assert history.ids() == ["run-4", "run-3", "run-2"]


def test_a_run_is_found_by_its_beginning_and_an_unknown_one_is_refused(history: History) -> None:
    with pytest.raises(UsageError, match="there has been no run yet"):
        history.find("last")
    for number, run_id in enumerate(("run-1a1e123fe3d356ed83c000001", "run-1a1e123fe3d99999999000001", "run-2b")):
        history.begin(run_record(run_id, float(number)))
    assert history.find() == history.find("last") == history.find("2b") == history.find("run-2") == "run-2b"
    assert history.find("1a1e123fe3d3") == "run-1a1e123fe3d356ed83c000001"
    assert shortest_prefix("run-1a1e123fe3d356ed83c000001", history.ids()) == "run-1a1e123fe3d3"
    with pytest.raises(UsageError, match="`run-1a` is the beginning of 2 runs"):
        history.find("run-1a")
    with pytest.raises(UsageError, match="there is no run `lats`") as refused:
        history.find("lats")
    assert refused.value.hint == "did you mean `last`?"


@pytest.mark.parametrize("run_id", ["../run-1", "a/b", "", "x" * 200, "run.jsonl"])
def test_an_id_that_is_not_a_plain_name_is_refused(history: History, run_id: str) -> None:
    with pytest.raises(SamuelError):
        history.begin(run_record(run_id))
    with pytest.raises(SamuelError, match="there is no record"):
        history.load(run_id)


def test_long_texts_and_lists_are_cut_and_names_that_are_not_utf8_are_escaped(
    history: History, tmp_path: Path
) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    check = CheckRecord(command="make", passed=False, output_tail="x" * 2_000_000 + "the end")
    history.begin(run_record())
    history.add(
        attempt(
            why="y" * 1_000_000,
            checks=(check,) * 1000,
            changed_files=(ChangedFile(path=name),) * 2000,
            lost_tests=(name,),
        )
    )
    assert file_of(tmp_path).stat().st_size < 4_000_000
    (record,) = history.load("run-1").attempts
    assert record.checks[0].output_tail.endswith("the end")
    assert (record.changed_files[0].path, record.lost_tests) == ("caf\\udce9.txt", ("caf\\udce9.txt",))


def test_a_file_never_grows_past_its_limit_and_the_end_of_the_run_is_recorded(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 20_000)
    history.begin(run_record())
    check = CheckRecord(command="make", passed=False, output_tail="x" * 4000)
    for iteration in range(1, 100):
        history.add(attempt(iteration, checks=(check,)))
    history.end(run_record(ended_at=1.0, exit_reason=ExitReason.ERROR))
    assert file_of(tmp_path).stat().st_size < 21_000
    loaded = history.load("run-1")
    assert loaded.run.exit_reason is ExitReason.ERROR
    assert len(loaded.attempts[-1].checks[0].output_tail) == 256  # short records first, then none


def test_a_history_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "history").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SamuelError, match="symbolic link"):
        History(tmp_path / "history").begin(run_record())
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_logs_of_the_oldest_runs_are_removed_past_both_limits(tmp_path: Path) -> None:
    for number in range(5):
        for folder in ("logs", "prompts"):
            directory = tmp_path / folder / f"run-{number}"
            directory.mkdir(parents=True)
            (directory / "iteration-0001.log").write_bytes(b"x" * 100)
    (tmp_path / "logs/agent.jsonl").write_text("{}\n")
    assert remove_old_logs(tmp_path, "run-4") == []
    assert remove_old_logs(tmp_path, "run-4", most_runs=4) == ["run-0"]
    assert remove_old_logs(tmp_path, "run-4", most_bytes=450) == ["run-2", "run-1"]
    assert remove_old_logs(tmp_path, "run-3", most_bytes=0) == ["run-4"]
    assert sorted(os.listdir(tmp_path / "logs")) == ["agent.jsonl", "run-3"]
    assert os.listdir(tmp_path / "prompts") == ["run-3"]


def test_tasks_of_the_end_of_a_run_are_loaded_with_what_a_report_shows(history: History, tmp_path: Path) -> None:
    assert history.tasks("run-1") is None
    question = Question(id="q1", text="which?")
    blocked = Task(id="1", title="One", status="blocked", last_failure="x" * 5000 + "\udcff", commit_sha="abc")
    waiting = Task(id="2", title="Two", status="waiting", questions=(question,), description="long", rank=7)
    history.save_tasks("run-1", [blocked, waiting])
    first, second = history.tasks("run-1") or ()
    assert (first.status, len(first.last_failure), first.commit_sha) == ("blocked", 4096, "abc")
    assert second == Task(id="2", title="Two", status="waiting", questions=(question,))
    assert history.ids() == []
    (tmp_path / "record/history/run-1.tasks.json").write_text("[{")
    assert history.tasks("run-1") is None


def test_tasks_of_a_run_are_forgotten_with_it(
    history: History, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    for number in (1, 2):
        history.begin(run_record(f"run-{number}", started_at=float(number)))
        history.save_tasks(f"run-{number}", [Task(id="1", title="One")])
    history.begin(run_record("run-3", started_at=3.0))
    assert sorted(os.listdir(tmp_path / "record/history")) == ["run-3.jsonl"]
