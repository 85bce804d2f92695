"""The acceptance tests of one task in one attempt: those that it is judged by, or those that its agent wrote."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from samuel.agents.process_files import errors_path
from samuel.attempt.acceptance.due import wants_acceptance, why_impossible
from samuel.attempt.run_files import RunFiles, private_directory
from samuel.attempt.workplace import Workplace
from samuel.base.printable import file_name
from samuel.checks.acceptance_rules import WrittenTests, judge_written
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.corner_runs import CornerRuns
from samuel.evidence.hidden_tests import SplitTests, split_tests
from samuel.history.acceptance_tests import AcceptanceTests, LockedFile, text_digest
from samuel.history.attempt_record import MAX_NAMED, AcceptanceRecord
from samuel.tasks.task import Task

DROPPED = "a person dropped them"


class TaskAcceptance:
    """`task` is None for a discovery."""

    def __init__(self, place: Workplace, files: RunFiles, task: Task | None) -> None:
        self._place = place
        self._files = files
        self._task = task
        self._tests = files.acceptance.get(task.id) if task else None

    @cached_property
    def locked(self) -> AcceptanceTests | None:
        """The tests that the attempt is judged by; None if there are none."""
        return None if self._why_none else self._tests

    @cached_property
    def _why_none(self) -> str:
        """Why the attempt is judged by no acceptance tests; "" if it is."""
        task, tests = self._task, self._tests
        if task is None or not wants_acceptance(self._place, task):
            return "none are wanted"
        if task.acceptance_dropped:
            return DROPPED
        if tests is None or not tests.is_locked or tests.text != text_digest(task):
            return (tests.why if tests else "") or why_impossible(self._place) or "none were written"
        if taken := [path for path in tests.paths if self._is_of_others(path, tests)]:
            return f"`{file_name(taken[0])}` is another file of the project by now"
        return ""

    def _is_of_others(self, path: str, tests: AcceptanceTests) -> bool:
        """Whether the verified tree has something else there, since other work has landed."""
        trees, verified = self._files.trees, self._files.attempts.state.verified
        content = trees.content(verified, path) if trees else None
        return content is not None and content != tests.contents[path]

    @property
    def laid(self) -> dict[str, bytes | None]:
        """The files that the attempt begins with, whatever the last one left; None for one that must be gone."""
        if self.locked is not None:
            return self.locked.visible
        paths = self._tests.paths if self._tests else ()
        trees, verified = self._files.trees, self._files.attempts.state.verified
        return {path: trees.content(verified, path) for path in paths} if trees else {}

    @property
    def record(self) -> AcceptanceRecord | None:
        """What the history says of the tests that the attempt is judged by; None if none were wanted."""
        if self.locked is not None:
            return _record(self.locked)
        if self._task is None or not wants_acceptance(self._place, self._task):
            return None
        return AcceptanceRecord(why=self._why_none)

    @property
    def prompt_names(self) -> dict[str, Any]:
        """What the prompt says about them: to the worker which they are, to their author why the last were not."""
        failure = self._tests.why if self._tests else ""
        if self.locked is None:
            return {"AcceptanceFailure": failure}
        paths = [path for path, content in self.locked.visible.items() if content is not None]
        return {"AcceptanceTests": paths, "HiddenTests": self.locked.hidden}

    # After the turn of their author

    def written_tests(self, tree: str, commands: Sequence[str], runs: CornerRuns) -> WrittenTests:
        """What the agent wrote, as far as it can be locked."""
        written_tests = judge_written(ChangedTests(self._files.trees, self._verified, tree, commands), runs)
        if self._place.settings.acceptance_visible:
            return written_tests
        return written_tests._replace(
            records=tuple(replace(record, output_tail="") for record in written_tests.records)
        )

    def outcome(self, agent: str, written_tests: WrittenTests) -> AcceptanceTests:
        """What is kept of it: the locked tests, or why there are none."""
        assert self._task is not None
        text = text_digest(self._task)
        same = self._tests is not None and self._tests.text == text
        tries = self._tests.tries + 1 if self._tests is not None and same else 1
        tests = AcceptanceTests(text=text, author=agent, tries=tries, why=written_tests.why)
        if written_tests.why:
            return tests
        split = SplitTests(dict(written_tests.files), 0)
        if not self._place.settings.acceptance_visible:
            split = split_tests(written_tests.files)
        return AcceptanceTests(
            text=text,
            author=agent,
            tries=tries,
            files=tuple(
                LockedFile(path=path, content=content, visible=split.visible[path])
                for path, content in sorted(written_tests.files.items())
            ),
            names=written_tests.names,
            hidden=split.hidden,
            verified=self._verified,
            red=written_tests.red,
            before=written_tests.before,
        )

    @property
    def _verified(self) -> str:
        return self._files.attempts.state.verified

    def hide_log(self, log: str) -> str:
        """Move the log of the author where a worker that is to see half of the tests does not find them."""
        if self._place.settings.acceptance_visible or not log:
            return log
        output = Path(os.path.normpath(self._place.root / log))
        directory = private_directory(self._place) / "acceptance-logs"
        target = directory / f"{output.parent.name}-{output.name}"
        with suppress(OSError):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            for path in {output, errors_path(output), output.with_suffix(".log")}:
                if path.is_file():
                    shutil.move(path, target.with_suffix(path.suffix))
            return os.path.relpath(target, self._place.root)
        return log


def author_record(tests: AcceptanceTests) -> AcceptanceRecord:
    """What the history says of an attempt that was to write acceptance tests."""
    return _record(tests) if tests.is_locked else AcceptanceRecord(author=tests.author, why=tests.why)


def _record(tests: AcceptanceTests) -> AcceptanceRecord:
    names, files = tests.names[:MAX_NAMED], tuple(map(file_name, tests.paths))
    return AcceptanceRecord(author=tests.author, tests=names, files=files, hidden=tests.hidden)
