from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.base.clock import FakeClock, SystemClock
from samuel.events import TurnEnd
from samuel.journal import CallRecord, EndRecord, EventRecord, Journal, newest_first
from samuel.journal.writer import RETRY_AFTER_SECONDS
from samuel.testing import Recorder, SamuelProject

PLACE = ".samuel/run/journal"


def records(project: SamuelProject) -> list[Any]:
    """The oldest first."""
    return list(newest_first(project.root, project.root / PLACE))[::-1]


def segments(root: Path) -> list[Path]:
    return sorted((root / PLACE).glob("*.jsonl"))


def text_of(project: SamuelProject) -> str:
    return "".join(segment.read_text() for segment in segments(project.root))


class TestRecords:
    def test_the_journal_has_a_record_of_the_event_of_each_call_and_of_the_end(
        self, samuel_project: SamuelProject
    ) -> None:
        def broken(event: Any) -> Any:
            raise RuntimeError("why")

        handlers = [
            Recorder("context.extra", name="a", returns={"extras": [], "data": {"x": 1}}),
            Recorder("context.extra", name="b", returns=broken, strict=True),
        ]
        with samuel_project.open(handlers=handlers, clock=FakeClock()) as app:
            app.fire("context.extra", task={"id": "7"}, run_id="run-1", session_id="s-1")
        event, first, second, end = records(samuel_project)
        assert isinstance(event, EventRecord)
        assert (event.event_id, event.event, event.run_id, event.session_id) == (
            "evt-1",
            "context.extra",
            "run-1",
            "s-1",
        )
        assert json.loads(bytes(event.payload))["task"] == {"id": "7"}
        assert isinstance(first, CallRecord)
        assert (first.event_id, first.handler, first.position, first.outcome) == ("evt-1", "a", 1, "ok")
        assert (first.origin, first.runtime) == ("embedder", "inline")
        assert first.result == {"extras": [], "data": {"x": 1}}
        assert (second.outcome, second.strict, second.message) == ("crashed", True, "RuntimeError: why")
        assert "raise RuntimeError" in second.stderr
        assert len({first.call_id, second.call_id}) == 2
        assert isinstance(end, EndRecord)
        assert (end.event_id, end.ok, end.stopped) == ("evt-1", False, True)
        assert end.warnings == ("`b` crashed: RuntimeError: why",)

    def test_the_record_of_a_call_has_the_digest_of_the_hook_file(
        self, samuel_project: SamuelProject, sh: Callable[[str, str], str]
    ) -> None:
        samuel_project.hook("a", sh("context.extra", "echo note >&2"))
        samuel_project.fire("context.extra", task={})
        first = records(samuel_project)[1]
        samuel_project.hook("a", sh("context.extra", "echo other >&2"))
        samuel_project.fire("context.extra", task={})
        second = records(samuel_project)[-2]
        assert (first.stderr, second.stderr) == ("note\n", "other\n")
        assert first.digest
        assert first.digest != second.digest

    def test_an_event_fired_inside_a_hook_has_its_parents_id(
        self, samuel_project: SamuelProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SAMUEL_EVENT_ID", "evt-outer")
        samuel_project.fire("context.extra", task={})
        assert records(samuel_project)[0].parent_id == "evt-outer"

    def test_both_phases_of_a_guarded_call_have_ids_of_their_own(self, samuel_project: SamuelProject) -> None:
        rewriters = [
            Recorder("PreAbilityCall", name=name, returns=lambda event: {"tool_input": {"x": 1}}) for name in "ab"
        ]
        with samuel_project.open(handlers=rewriters) as app:
            app.fire("PreAbilityCall", ability_id="x", tool_input={})
        calls = [record for record in records(samuel_project) if isinstance(record, CallRecord)]
        assert [call.phase for call in calls] == ["", "", "guard"]
        assert len({call.call_id for call in calls}) == 3


class TestWhatIsLeftOut:
    def test_values_of_env_are_redacted_everywhere(self, samuel_project: SamuelProject) -> None:
        handlers = [Recorder("before:agent.invoke", returns={"env": {"B": "hunter3", "C": "$C"}})]
        with samuel_project.open(handlers=handlers) as app:
            fired = app.fire(
                "before:agent.invoke", agent="x", env={"A": "hunter2", "K": "$KEY"}, context=app.context()
            )
        assert fired.result["env"] == {"B": "hunter3", "C": "$C"}
        text = text_of(samuel_project)
        assert "hunter" not in text
        assert '"A":"[secret]","K":"$KEY"' in text
        assert text.count('"B":"[secret]","C":"$C"') == 2  # of the call, and of the whole

    def test_bulk_is_cut_and_says_how_long_it_was(self, samuel_project: SamuelProject) -> None:
        prompt = "p" * 1_000_000
        with samuel_project.open(handlers=[Recorder("TurnEnd", returns={"x": "r" * 500_000})]) as app:
            app.fire("TurnEnd", response=prompt, turn_number=1)
            app.fire("SessionStop", messages=[{"text": "m" * 500_000}])
        assert len(text_of(samuel_project)) < 30_000
        assert "[1000000 bytes, sha256 " in text_of(samuel_project)
        assert "[500000 bytes, sha256 " in text_of(samuel_project)

    def test_more_is_kept_of_an_event_that_can_be_denied_so_that_it_can_be_replayed(
        self, samuel_project: SamuelProject
    ) -> None:
        with samuel_project.open() as app:
            for size in (10_000, 20_000):
                app.fire("PreAbilityCall", ability_id="edit", tool_input={"text": "x" * size})
        inputs = [
            json.loads(bytes(record.payload))["tool_input"]
            for record in records(samuel_project)
            if isinstance(record, EventRecord)
        ]
        assert {"text": "x" * 10_000} in inputs
        assert sum(isinstance(value, str) and "[20011 bytes, sha256 " in value for value in inputs) == 1

    def test_the_context_is_recorded_by_its_hash(self, samuel_project: SamuelProject) -> None:
        with samuel_project.open() as app:
            for secret in ("one", "one", "two"):
                app.fire("context.extra", task={}, context={"Plugins": {"x": secret * 10}})
        hashes = [record.context for record in records(samuel_project) if isinstance(record, EventRecord)]
        assert hashes[0] == hashes[1] != hashes[2]
        assert all(hashes)
        assert "oneone" not in text_of(samuel_project)


class TestReading:
    def test_the_reader_skips_a_torn_last_line(self, samuel_project: SamuelProject) -> None:
        samuel_project.fire("context.extra", task={})
        (segment,) = segments(samuel_project.root)
        whole = segment.read_bytes()
        for cut in (1, 2, 10, 50):
            segment.write_bytes(whole[:-cut])
            assert [type(record) for record in records(samuel_project)] == [EventRecord] + [EndRecord] * (cut == 1)

    def test_the_reader_skips_lines_that_are_not_records(self, samuel_project: SamuelProject) -> None:
        samuel_project.fire("context.extra", task={})
        (segment,) = segments(samuel_project.root)
        garbage = b"\xff\x00\n{}\n[]\n" + b"[" * 100_000 + b'\n{"kind":"other"}\n'
        segment.write_bytes(garbage + segment.read_bytes() + garbage)
        assert len(records(samuel_project)) == 2

    def test_the_journal_can_be_read_while_it_is_written(self, samuel_project: SamuelProject) -> None:
        counts: list[int] = []

        def look(event: Any) -> None:
            counts.append(len(records(samuel_project)))

        with samuel_project.open(handlers=[Recorder("context.extra", returns=look)]) as app:
            app.fire("context.extra", task={})
            app.fire("context.extra", task={})
            assert counts == [1, 4]  # the event is there before its first handler runs
            assert len(records(samuel_project)) == 6

    def test_records_of_several_segments_and_processes_are_read_newest_first(self, tmp_path: Path) -> None:
        clock = FakeClock()
        journals = [
            Journal(tmp_path, tmp_path / PLACE, clock, pytest.fail, segment_bytes=2_000, total_bytes=1_000_000)
            for _ in range(2)
        ]
        for number in range(20):
            clock.advance(1)
            journals[number % 2].begin(TurnEnd(event_id=f"evt-{number}", response="x" * 900, turn_number=1))
        for journal in journals:
            journal.close()
        assert len(segments(tmp_path)) > 3
        at = [record.at for record in newest_first(tmp_path, tmp_path / PLACE)]
        assert len(at) == 20
        assert at == sorted(at, reverse=True)

    def test_a_journal_that_does_not_exist_reads_as_empty(self, samuel_project: SamuelProject) -> None:
        assert records(samuel_project) == []


class TestThatCannotBeWritten:
    @pytest.mark.parametrize("how", ["file", "link", "dangling link"])
    def test_a_journal_that_cannot_be_written_is_one_warning_and_the_event_goes_on(
        self, samuel_project: SamuelProject, tmp_path: Path, how: str
    ) -> None:
        place = samuel_project.root / PLACE
        place.parent.mkdir(parents=True)
        if how == "file":
            place.write_text("")
        elif how == "link":
            (tmp_path / "elsewhere").mkdir()
            place.symlink_to(tmp_path / "elsewhere")
        else:
            place.symlink_to(tmp_path / "elsewhere")
        with samuel_project.open(handlers=[Recorder("context.extra", returns={"x": 1})]) as app:
            for _ in range(3):
                assert app.fire("context.extra", task={}).result["x"] == 1
            warnings = app.warnings
        assert len(warnings) == 1
        assert "journal cannot be written" in warnings[0]
        if how == "link":
            assert os.listdir(tmp_path / "elsewhere") == []

    def test_a_journal_that_can_be_written_again_goes_on(self, samuel_project: SamuelProject) -> None:
        place = samuel_project.root / PLACE
        place.parent.mkdir(parents=True)
        place.write_text("")
        clock = FakeClock()
        with samuel_project.open(handlers=[Recorder("context.extra", returns={"x": 1})], clock=clock) as app:
            app.fire("context.extra", task={})
            place.unlink()
            app.fire("context.extra", task={"id": "too soon"})
            assert not place.exists()
            clock.advance(RETRY_AFTER_SECONDS)
            app.fire("context.extra", task={"id": "again"})
            assert len(app.warnings) == 1
        assert [record.event_id for record in records(samuel_project)] == ["evt-3"] * 3

    def test_the_journal_is_not_written_through_links(self, samuel_project: SamuelProject, tmp_path: Path) -> None:
        place = samuel_project.root / PLACE
        place.mkdir(parents=True)
        (place / ".gitignore").symlink_to(tmp_path / "outside")
        (tmp_path / "theirs").write_text(
            '{"kind":"end","event_id":"x","event":"x","at":1,"ok":true,"duration_ms":1}\n'
        )
        (place / "9.jsonl").symlink_to(tmp_path / "theirs")
        samuel_project.fire("context.extra", task={})
        assert not (tmp_path / "outside").exists()
        assert len(records(samuel_project)) == 2

    @pytest.mark.parametrize("task", [{"x": object()}, {"x": "\ud800"}], ids=["object", "surrogate"])
    def test_a_record_that_cannot_be_encoded_does_not_end_the_journal(
        self, samuel_project: SamuelProject, task: dict[str, Any]
    ) -> None:
        with samuel_project.open() as app:
            app.fire("context.extra", task=task)
            assert len(app.warnings) == 1
            app.fire("context.extra", task={"id": "good"})
            assert len(app.warnings) == 1
        assert '"good"' in text_of(samuel_project)


class TestSegments:
    def test_only_the_owner_may_read_the_journal_and_git_ignores_it(self, samuel_project: SamuelProject) -> None:
        samuel_project.fire("context.extra", task={})
        (segment,) = segments(samuel_project.root)
        assert segment.stat().st_mode & 0o777 == 0o600
        assert segment.parent.stat().st_mode & 0o077 == 0
        assert (segment.parent.parent / ".gitignore").read_text() == "*\n"  # the whole of .samuel/run/

    def test_a_process_that_fires_no_event_writes_no_segment(self, samuel_project: SamuelProject) -> None:
        samuel_project.open().close()
        assert not (samuel_project.root / ".samuel").exists()

    def fill(self, root: Path, count: int, **caps: int) -> list[str]:
        warnings: list[str] = []
        clock = FakeClock()
        journal = Journal(root, root / PLACE, clock, warnings.append, **caps)
        for number in range(count):
            clock.advance(1)
            journal.begin(TurnEnd(event_id=f"evt-{number}", response="x" * 900, turn_number=number))
        journal.close()
        return warnings

    def test_a_full_segment_is_followed_by_another(self, tmp_path: Path) -> None:
        assert self.fill(tmp_path, 50, segment_bytes=10_000, total_bytes=1_000_000) == []
        assert len(segments(tmp_path)) > 3
        assert all(segment.stat().st_size < 13_000 for segment in segments(tmp_path))
        assert len(list(newest_first(tmp_path, tmp_path / PLACE))) == 50

    def test_the_oldest_segments_are_removed_when_all_together_are_too_large(self, tmp_path: Path) -> None:
        assert self.fill(tmp_path, 200, segment_bytes=10_000, total_bytes=50_000) == []
        assert sum(segment.stat().st_size for segment in segments(tmp_path)) < 55_000
        event_ids = [record.event_id for record in newest_first(tmp_path, tmp_path / PLACE)]
        assert event_ids == [f"evt-{number}" for number in range(199, 199 - len(event_ids), -1)]
        assert len(event_ids) > 20

    def test_a_clock_that_was_set_back_does_not_change_the_order_of_records(self, tmp_path: Path) -> None:
        """Each step stands for a process. One segment is full, then the clock is set back by a year."""
        self.fill(tmp_path, 10)
        for number, year in enumerate((-1, -1, -1, -1, 1), start=10):
            clock = FakeClock(1_750_000_000.0 + year * 365 * 86400 + number)
            journal = Journal(tmp_path, tmp_path / PLACE, clock, pytest.fail, segment_bytes=8_000)
            journal.begin(TurnEnd(event_id=f"evt-{number}", response="x", turn_number=number))
            journal.close()
        assert len(segments(tmp_path)) == 2
        event_ids = [record.event_id for record in newest_first(tmp_path, tmp_path / PLACE)]
        assert event_ids == [f"evt-{number}" for number in reversed(range(15))]

    def test_the_segment_written_first_is_removed_first_after_the_clock_was_set_back(self, tmp_path: Path) -> None:
        self.fill(tmp_path, 50, segment_bytes=10_000, total_bytes=50_000)
        clock = FakeClock(1_000_000_000.0)
        journal = Journal(tmp_path, tmp_path / PLACE, clock, pytest.fail, segment_bytes=10_000, total_bytes=50_000)
        for number in range(50, 70):
            clock.advance(1)
            journal.begin(TurnEnd(event_id=f"evt-{number}", response="x" * 900, turn_number=number))
        journal.close()
        event_ids = [record.event_id for record in newest_first(tmp_path, tmp_path / PLACE)]
        assert event_ids == [f"evt-{number}" for number in range(69, 69 - len(event_ids), -1)]
        assert len(event_ids) > 20

    def test_processes_one_after_another_share_a_segment(self, samuel_project: SamuelProject) -> None:
        for number in range(5):
            samuel_project.fire("context.extra", task={"id": str(number)})
        assert len(segments(samuel_project.root)) == 1
        assert len(records(samuel_project)) == 10

    def test_a_torn_line_of_a_killed_process_does_not_damage_later_lines(
        self, samuel_project: SamuelProject
    ) -> None:
        samuel_project.fire("context.extra", task={})
        (segment,) = segments(samuel_project.root)
        with segment.open("ab") as file:
            file.write(b'{"kind":"event","event_id":"evt-torn"')
        samuel_project.fire("context.extra", task={})
        assert len(segments(samuel_project.root)) == 1
        assert len(records(samuel_project)) == 4

    def test_a_segment_that_was_removed_meanwhile_is_followed_by_another(self, tmp_path: Path) -> None:
        journal = Journal(tmp_path, tmp_path / PLACE, FakeClock(), pytest.fail)
        for number in range(2):
            journal.begin(TurnEnd(event_id=f"evt-{number}", response="", turn_number=1))
            if not number:
                segments(tmp_path)[0].unlink()
        journal.close()
        assert [record.event_id for record in newest_first(tmp_path, tmp_path / PLACE)] == ["evt-1"]

    def test_a_journal_that_was_moved_away_is_followed_by_another(self, tmp_path: Path) -> None:
        """A server has it open for long."""
        journal = Journal(tmp_path, tmp_path / PLACE, FakeClock(), pytest.fail)
        journal.begin(TurnEnd(event_id="evt-0", response="", turn_number=1))
        (tmp_path / PLACE).rename(tmp_path / "moved")
        journal.begin(TurnEnd(event_id="evt-1", response="", turn_number=1))
        journal.close()
        assert [record.event_id for record in newest_first(tmp_path, tmp_path / PLACE)] == ["evt-1"]

    def test_a_segment_that_others_may_read_is_not_appended_to(self, samuel_project: SamuelProject) -> None:
        place = samuel_project.root / PLACE
        place.mkdir(parents=True)
        (place / "9999.jsonl").write_text("came with a clone\n")
        (place / "9999.jsonl").chmod(0o644)
        os.mkfifo(place / "99999.jsonl", 0o600)
        samuel_project.fire("context.extra", task={})
        assert (place / "9999.jsonl").read_text() == "came with a clone\n"
        assert len(segments(samuel_project.root)) == 3
        assert len(records(samuel_project)) == 2

    @pytest.mark.slow
    def test_many_processes_append_at_the_same_time_without_losing_records(
        self, samuel_project: SamuelProject
    ) -> None:
        code = f"""
import sys
from pathlib import Path
from samuel.base.clock import SystemClock
from samuel.events import TurnEnd
from samuel.journal import Journal

root, me, total = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
warned = []
journal = Journal(root, root / {PLACE!r}, SystemClock(), warned.append, "", 20_000, total)
for n in range(100):
    journal.begin(TurnEnd(event_id=f"{{me}}-{{n}}", response="x" * 900, turn_number=n))
journal.close()
sys.exit(len(warned))
"""

        def run(total: int) -> None:
            processes = [
                subprocess.Popen([sys.executable, "-c", code, samuel_project.root, str(n), str(total)])
                for n in range(4)
            ]
            assert [process.wait(300) for process in processes] == [0] * 4

        run(10_000_000)
        event_ids = [record.event_id for record in records(samuel_project)]
        assert sorted(event_ids) == sorted(f"{p}-{n}" for p in range(4) for n in range(100))
        run(60_000)  # now each makes room, while the others do too
        assert records(samuel_project)


def test_records_have_the_time_of_the_system_clock(samuel_project: SamuelProject) -> None:
    before = SystemClock().now()
    samuel_project.fire("context.extra", task={})
    assert before <= records(samuel_project)[0].at <= SystemClock().now()


def test_reading_a_long_journal_takes_the_memory_of_a_few_records(samuel_project: SamuelProject) -> None:
    """A run reads the journal when it ends; a process that once held all of it stays that large."""
    with samuel_project.open(handlers=[Recorder("context.extra", name="a")]) as app:
        app.fire("context.extra", task={"id": "7"})
    [segment] = segments(samuel_project.root)
    segment.write_bytes(segment.read_bytes() * 4_000)
    size = segment.stat().st_size
    tracemalloc.start()
    try:
        count = sum(1 for _ in newest_first(samuel_project.root, samuel_project.root / PLACE))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 12_000
    assert peak < 1024 * 1024 < size
