"""The change of an attempt in two parts: its tests, with what decides how checks run, and its source.

With the old tests the new source is judged, and with the old source the new tests. A file may have both: tests
beside the source, settings of checks beside dependencies. Then parts of one version are put into the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from samuel.base.paths import VOLATILE_DIRS
from samuel.checks.files import CheckFiles
from samuel.checks.runners import looks_like_check
from samuel.evidence.claim import Change
from samuel.evidence.code_change import adds_only_names, changes_only_numbers, has_code, is_prose
from samuel.evidence.conventions import is_test_file
from samuel.evidence.inline_tests import new_tests_in, old_tests_in
from samuel.evidence.lexing import family_of
from samuel.evidence.ownership import ALL_TESTS, owned_tests
from samuel.evidence.plant.siblings import language_of
from samuel.evidence.settings.check_settings import is_check_setting, merged_settings, same_check_settings
from samuel.evidence.settings.runner_places import patterns_of_tests
from samuel.evidence.softened import softened_in
from samuel.git.output import GITLINK, LINK
from samuel.git.trees import Trees
from samuel.tasks.task import Task

MAX_TEXT = 1 << 20  # bytes of a file that is compared


class ChangedTests:
    """What an attempt with the tree `own` changed since the tree `verified`; `trees` is None without git."""

    def __init__(self, trees: Trees | None, verified: str, own: str, commands: Sequence[str]) -> None:
        self._trees = trees if verified and own else None
        self.verified = verified if self._trees is not None else ""
        self.own = own
        self._commands = commands

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """The paths that differ, but for Samuel's own; also those that a person had changed before the run."""
        if self._trees is None:
            return ()
        paths = self._trees.differing(self.verified, self.own)
        return tuple(sorted(path for path in paths if not path.startswith(VOLATILE_DIRS)))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The tests among them, the settings of checks, and source files whose tests inside changed."""
        return (*self.among(self.changed), *self._inline)

    @property
    def sources(self) -> tuple[str, ...]:
        """Everything else; a source file with tests in it belongs to both."""
        tests = {*self.among(self.changed)}
        return tuple(path for path in self.changed if path not in tests)

    @property
    def code_sources(self) -> tuple[str, ...]:
        """The sources in known languages that the attempt has, and of which it changed more than comments."""
        names = {*self.own_names}
        return tuple(
            path
            for path in self.sources
            if path in names and (language_of(path) or family_of(path)) and self._has_code(path)
        )

    def among(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of the paths that are tests, or that decide what the checks do."""
        if self._trees is None or not self._commands:
            return ()
        names = tuple(paths)
        scripts = {path for path in self._check_files.touched(names) if not is_check_setting(path)}
        return tuple(path for path in names if path in scripts or self._is_test(path))

    def programs(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of these tests that are tests only because a check runs them, and have no name that says so.

        They may check the work, or be the work: `sh src/table.sh | diff - tests/table.txt`.
        """
        return tuple(
            path
            for path in paths
            if not self._is_test(path) and not looks_like_check(path) and not is_check_setting(path)
            if path not in self._inline
        )

    def _is_test(self, path: str) -> bool:
        if is_check_setting(path):
            return not same_check_settings(path, self.before(path), self.after(path))
        return is_test_file(path, self._patterns)

    @cached_property
    def _check_files(self) -> CheckFiles:
        return CheckFiles.of(self._commands, self.names, self.before)

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        settings = [path for path in self.names if is_check_setting(path)]
        return tuple(pattern for path in settings for pattern in patterns_of_tests(path, self.before(path)))

    @cached_property
    def _inline(self) -> tuple[str, ...]:
        """The source files in which tests changed."""
        texts = {path: (self.before(path), self.after(path)) for path in self.changed if not is_test_file(path)}
        return tuple(path for path, (old, new) in texts.items() if old_tests_in(path, old, new) not in (None, new))

    def not_owned(self, task: Task) -> tuple[str, ...]:
        """The changed tests that the task does not own."""
        owned = owned_tests(task, self.names)
        by_task = {*owned.of(self.paths), *(self._inline if ALL_TESTS in owned.patterns else ())}
        return tuple(path for path in self.paths if path not in by_task)

    def softened(self, paths: Iterable[str]) -> dict[str, str]:
        """A line for each test in these files that checks less than before, with its file."""
        texts = {path: (self.before(path), self.after(path)) for path in paths}
        programs = self.programs(texts)
        return {
            test.line: test.path for test in softened_in(texts) if test.is_disarmed or test.path not in programs
        }

    def without(self, paths: Sequence[str]) -> ChangedTests:
        """The change without that of these tests, which are put back."""
        return ChangedTests(self._trees, self.verified, self.with_old_tests(paths), self._commands)

    def with_old_tests(self, paths: Sequence[str]) -> str:
        """The tree of the attempt with these tests as in the verified tree."""
        return self._mixed(self.own, self.verified, paths, self._old_tests)

    def with_acceptance(self, not_owned: Sequence[str], contents: Mapping[str, bytes | None]) -> str:
        """The tree of the attempt with these tests as in the verified tree, and with the files of locked tests."""
        assert self._trees is not None
        return self._trees.with_contents(self.with_old_tests(not_owned), contents)

    def with_old_source(self) -> str:
        """The verified tree with the tests of the attempt; "" if that is the verified tree, or the attempt."""
        if self._trees is None or not self.paths or not self.sources:
            return ""
        tree = self._mixed(self.verified, self.own, self.paths, self._new_tests)
        return "" if tree in (self.verified, self.own) else tree

    def _mixed(self, tree: str, other: str, paths: Sequence[str], text: Callable[[str], str | None]) -> str:
        """`tree` with these paths as in `other`, or as `text` mixes both."""
        assert self._trees is not None
        mixed = {path: content.encode() for path in paths if (content := text(path)) is not None}
        whole = self._trees.combined(tree, other, [path for path in paths if path not in mixed])
        return self._trees.with_contents(whole, mixed)

    def _old_tests(self, path: str) -> str | None:
        old, new = self.before(path), self.after(path)
        if is_check_setting(path):
            return merged_settings(path, new, old)
        return old_tests_in(path, old, new) if path in self._inline else None

    def _new_tests(self, path: str) -> str | None:
        old, new = self.before(path), self.after(path)
        if is_check_setting(path):
            return merged_settings(path, old, new)
        return new_tests_in(path, old, new) if path in self._inline else None

    def change(self) -> Change:
        """What changed at most in the source; code where that is not known, or where only tests changed."""
        if self._trees is None or not self.sources:
            return "code" if self._trees is None or self.paths else "comments"
        if code := [path for path in self.sources if self._has_code(path)]:
            return "names" if all(map(self._adds_only_names, code)) else "code"
        return "documents" if any(map(is_prose, self.sources)) else "comments"

    @property
    def can_disarm(self) -> bool:
        """Whether it changed tests, settings of checks, or anything in its source besides comments and numbers."""
        return self._trees is None or bool(
            self.paths
            or any(
                self._has_code(path) and not changes_only_numbers(self.before(path), self.after(path))
                for path in self.sources
            )
        )

    def _has_code(self, path: str) -> bool:
        """Whether more than comments changed; a file that was added or removed is more, even an empty one."""
        assert self._trees is not None
        old, new = self.before(path), self.after(path)
        is_there = [self._trees.content(tree, path) is not None for tree in (self.verified, self.own)]
        if is_there[0] != is_there[1] and not is_prose(path):
            return True
        return has_code(path, old, old_tests_in(path, old, new) or new)

    def _adds_only_names(self, path: str) -> bool:
        """Whether the file is new or changed, and has no more than names in it that were not there."""
        assert self._trees is not None
        old, new = self.before(path), self.after(path)
        is_there = self._trees.content(self.own, path) is not None
        return is_there and adds_only_names(path, old, old_tests_in(path, old, new) or new)

    def take_in(self, contents: Mapping[str, bytes | None]) -> None:
        """Take files that the checks changed, a formatter among them, as the attempt's."""
        if self._trees is not None:
            self.own = self._trees.with_contents(self.own, contents)

    def is_plain_file(self, path: str) -> bool:
        """Whether the attempt has a file there, and not a link or another repository."""
        entry = self._trees.entries(self.own, [path]).get(path) if self._trees else None
        return entry is not None and entry.mode not in (LINK, GITLINK)

    def is_verified(self, path: str) -> bool:
        """Whether the verified tree has this file."""
        return path in self.names

    @cached_property
    def names(self) -> list[str]:
        """The paths of the verified tree."""
        return self._trees.paths(self.verified) if self._trees else []

    @cached_property
    def own_names(self) -> list[str]:
        """The paths of the attempt."""
        return self._trees.paths(self.own) if self._trees else []

    def own_with(self, files: Mapping[str, bytes]) -> str:
        """The attempt with these files."""
        return self._trees.with_contents(self.own, files) if self._trees else ""

    def verified_with(self, files: Mapping[str, bytes]) -> str:
        """The verified tree with these files."""
        return self._trees.with_contents(self.verified, files) if self._trees else ""

    def content_before(self, path: str) -> bytes:
        return (self._trees.content(self.verified, path) if self._trees else None) or b""

    def content_after(self, path: str) -> bytes:
        return (self._trees.content(self.own, path) if self._trees else None) or b""

    def before(self, path: str) -> str:
        return self.content_before(path)[:MAX_TEXT].decode("utf-8", "replace")

    def after(self, path: str) -> str:
        return self.content_after(path)[:MAX_TEXT].decode("utf-8", "replace")
