"""Watches an agent while it works: reads its output, and ends it when it has to end before its work is done.

That is when a budget is used up, it shows no work, or a person wants it to start again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from samuel.base.clock import SystemClock
from samuel.clients.adapter.stream import AgentUsage, LineSplitter, PlainStream

OverBudget = Callable[[AgentUsage], str]
OnActivity = Callable[[str, AgentUsage], None]
WhyEnd = Callable[[], str]

LONGEST_PAUSE = 5.0  # seconds between two looks at the CPU time
ASKED_EVERY = 0.5  # seconds between two looks at whether a person wants it to end
BUSY = 0.05  # of one core. A client that only waits, or tries again now and then, uses less
MOST_ENTRIES = 100_000  # files that are looked at for a change

_NOT_THE_AGENTS = frozenset({".samuel", ".git"})  # we write there ourselves


class Watchdog:
    """The `StopCheck` of one agent, and the reader of its stdout."""

    def __init__(
        self,
        stream: PlainStream,
        root: Path,
        *,
        idle_timeout: float | None = None,
        over_budget: OverBudget | None = None,
        on_activity: OnActivity | None = None,
        restarted: WhyEnd | None = None,
    ) -> None:
        self._look_every = min(LONGEST_PAUSE, (idle_timeout or 4 * LONGEST_PAUSE) / 4)
        self.every = min(self._look_every, ASKED_EVERY) if restarted else self._look_every
        self.is_idle = False
        self.over_budget = ""
        """Why it was ended, if a budget was used up."""
        self.restarted = ""
        """Why it was ended, if a person wants it to start again."""
        self._ask_restarted = restarted
        self._stream = stream
        self._root = root
        self._idle_timeout = idle_timeout
        self._ask_budget = over_budget
        self._on_activity = on_activity
        self._lines = LineSplitter(self._read)
        self._error_lines = LineSplitter(stream.feed_error)
        self._reported: tuple[str, AgentUsage] = ("", {})
        self._sign = self._looked = time.perf_counter()  # of work, and at the CPU time
        self._cpu = 0.0

    def take(self, chunk: bytes) -> None:
        """Some of its stdout, which is a sign of work."""
        self._sign = time.perf_counter()
        self._lines.feed(chunk)

    def take_error(self, chunk: bytes) -> None:
        """Some of its stderr, which is one, too."""
        self._sign = time.perf_counter()
        self._error_lines.feed(chunk)

    def close(self) -> None:
        """Read what came without the end of a line."""
        self._lines.close()
        self._error_lines.close()

    def __call__(self, cpu_seconds: Callable[[], float | None]) -> bool:
        if self.over_budget:
            return True
        if self._ask_restarted and (why := self._ask_restarted()):
            self.restarted = why
            return True
        now = time.perf_counter()
        if self._idle_timeout is None or now - self._looked < self._look_every:
            return False
        self.is_idle = self._shows_no_work(now, cpu_seconds(), self._idle_timeout)
        self._looked = now
        return self.is_idle

    def _shows_no_work(self, now: float, cpu: float | None, idle_timeout: float) -> bool:
        if cpu is None:  # it may compile without a word; `agent_timeout` is what is left
            return False
        if cpu - self._cpu >= BUSY * (now - self._looked):
            self._sign = now
        self._cpu = cpu
        if now - self._sign < idle_timeout:
            return False
        if newest_change(self._root, SystemClock.now() - (now - self._sign)):
            self._sign = now
            return False
        return True

    def _read(self, line: bytes) -> None:
        self._stream.feed(line)
        activity = self._stream.activity.replace(f"{self._root}/", "")
        latest = (activity, self._stream.usage)
        if latest == self._reported:
            return
        has_used_more = latest[1] != self._reported[1]
        self._reported = latest
        if has_used_more and self._ask_budget and not self.over_budget:
            self.over_budget = self._ask_budget(dict(latest[1]))
        if self._on_activity:
            self._on_activity(activity, dict(latest[1]))


def newest_change(root: Path, since: float) -> bool:
    """Was a file below `root` changed after `since`? Of a very large tree, only the upper part is looked at."""
    now = SystemClock.now()
    directories, entries = [str(root)], 0
    for directory in directories:  # grows while it is read: breadth first
        try:
            with os.scandir(directory) as listing:
                for entry in listing:
                    entries += 1
                    if entries > MOST_ENTRIES:
                        return False
                    if entry.name in _NOT_THE_AGENTS and directory == str(root):
                        continue
                    if since < entry.stat(follow_symlinks=False).st_mtime <= now:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(entry.path)
        except OSError:  # gone, or not to be read
            continue
    return False
