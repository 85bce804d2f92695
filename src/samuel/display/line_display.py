"""Displays of a run in lines, made from the loop's reports: for pipes, for terminals and for `--json`."""

from __future__ import annotations

import codecs
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from samuel.base.printable import safe, without_control_sequences
from samuel.base.wording import first_line, tail
from samuel.display.colours import colour_of, coloured, terminal_has_colours
from samuel.display.notice_lines import (
    LINES,
    agent_line,
    check_result,
    end_line,
    next_steps,
    short_path,
    subject,
    wait_line,
)
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.evidence.corner import MUST_FAIL
from samuel.history import notices
from samuel.report.way_out import way_out

MOST_HELD = 4096  # characters of a control sequence that has no end yet
MOST_OF_A_LINE = 500
_INTRODUCER = re.compile(r"[\x1b\x90\x98\x9b\x9d\x9e\x9f]|\r\Z")

FINISHING = "finishing this attempt; press Ctrl-C again to stop now"


class AgentText:
    """Turns chunks into text without control sequences, and remembers the last line that has words in it."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # chunks may end within a character
        self._held = ""  # the beginning of a control sequence, or a carriage return
        self._line = ""  # that has no end yet
        self.last_line = ""

    def feed(self, chunk: bytes) -> str:
        """The text of a chunk. A lone carriage return, which starts a line over, ends the line before it."""
        text = without_control_sequences(self._held + self._decode(chunk))
        self._held = ""
        unfinished = _INTRODUCER.search(text)  # the next chunk may go on with it
        if unfinished and len(text) - unfinished.start() <= MOST_HELD:
            text, self._held = text[: unfinished.start()], text[unfinished.start() :]
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = (self._line + text).split("\n")
        self._line = rest[:MOST_OF_A_LINE]
        self.last_line = next((line.strip() for line in [rest, *reversed(lines)] if line.strip()), self.last_line)
        return text


class PlainDisplay:
    """One line for everything that a reader of a log file would look for."""

    raw = False
    """True: print the agent's records for programs as well."""

    def __init__(self, verbose: bool = False, now: Callable[[], float] = time.time) -> None:
        self._verbose = verbose
        self._now = now
        self._closed = False
        self._in_a_line = False  # of the agent's output
        self._agent_text = AgentText()
        self._log = ""  # of the agent of this iteration
        self._activity = ""  # of the agent, that was printed last
        self._tail_shown = False  # of a check of this iteration
        self._reason = ""  # that was printed last
        self._lanes: dict[int, PlainDisplay] = {}  # what is known of the attempts in each lane

    def showing(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def stop_requested(self) -> None:
        """Answer to Ctrl-C. Called by a signal handler: print could be in the middle of a line."""
        with suppress(OSError):  # the terminal may be closed
            os.write(2, f"\n{FINISHING}\n".encode())

    def __call__(self, report: notices.Report) -> None:
        if isinstance(report, notices.LaneReport) and isinstance(report.report, notices.AgentOutputChunk):
            return  # lines of several agents at once could not be told apart; each has its log
        if isinstance(report, notices.AgentOutputChunk):
            text = self._agent_text.feed(report.chunk) if report.readable or self.raw else ""
            if self._verbose:
                self._write(safe(text), whole=False)
        elif line := self.line(report):
            line = safe(without_control_sequences(line))
            self._write((coloured(line, colour_of(report)) if self._has_colours else line) + "\n")

    @property
    def _has_colours(self) -> bool:
        return terminal_has_colours()

    def _write(self, text: str, whole: bool = True) -> None:
        """Write to the output while there is one: a closed terminal or `| head` must not end the run."""
        if self._closed or not text:
            return
        if whole and self._in_a_line:
            text = f"\n{text}"
        self._in_a_line = not text.endswith("\n")
        try:
            self._put(text)
        except OSError:
            self._closed = True

    def _put(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def line(self, report: notices.Report) -> str:
        """What to print for a report; "" for nothing."""
        if words := LINES.get(type(report)):
            return words(report)
        match report:
            case notices.RunRefused():
                self._reason = first_line(report.why)
                return f"  {IterationOutcome.ABORTED}: {self._reason}"
            case notices.IterationStarted():
                self._log, self._activity, self._tail_shown = "", "", False
                return f"iteration {report.iteration}/{report.max_iterations}: {subject(report)}"
            case notices.AgentEnded():
                self._log = report.log
                return f"  {agent_line(report, self._now())}"
            case notices.CheckEnded():
                return self._check(report)
            case notices.IterationFailed():
                return self._failure(report)
            case notices.RunEnded():
                return self._end(report)
            case notices.WaitStarted():
                return f"  {wait_line(report, self._now())}"
            case notices.AgentActivity():
                return "" if report.repeats_output or self.raw else self._activity_line(first_line(report.text))
            case notices.LaneReport():
                return self._of_lane(report)
            case _:  # that a step or a check begins is for the live display
                return ""

    def _of_lane(self, report: notices.LaneReport) -> str:
        """What to print for a report of a lane: each line with the number of the lane in front."""
        mark = f"[{report.lane}] " if report.lane else "[landing] "
        lane = self._lanes.setdefault(report.lane, PlainDisplay(self._verbose, self._now))
        return "\n".join(f"{mark}{line.removeprefix('  ')}" for line in lane.line(report.report).splitlines())

    def _activity_line(self, text: str) -> str:
        """What the agent does now, for `--verbose`; "" if only what it used is new."""
        if not self._verbose or text == self._activity:
            return ""
        self._activity = text
        return f"    {text}" if text else ""

    def _check(self, report: notices.CheckEnded) -> str:
        line = f"  check {check_result(report)}"
        if report.passed or report.repeated or report.corner in MUST_FAIL or not report.output_tail.strip():
            return line
        self._tail_shown = True
        return "\n".join([line, *tail(report.output_tail)])

    def _failure(self, report: notices.IterationFailed) -> str:
        """The reason, the end of what the agent printed, unless a check has shown why, and where all of it is."""
        self._reason = first_line(report.why)
        output = report.why.partition("\n")[2]
        of_agent = report.outcome is IterationOutcome.AGENT_FAILED
        of_check = report.outcome is IterationOutcome.QUALITY_FAILED and not self._tail_shown
        last_lines = tail(output) if of_agent or of_check else []
        log = short_path(report.log or self._log)
        way = way_out(report.task_id, report.why)
        own_files = [f"  {way.own_files}"] if way else []
        log_lines = [f"  log: {log}"] if log else []
        return "\n".join([f"  {report.outcome}: {self._reason}", *last_lines, *own_files, *log_lines])

    def _end(self, report: notices.RunEnded) -> str:
        why = first_line(report.message)
        reasons = [self._reason, *(lane._reason for lane in self._lanes.values())]
        is_shown = why in reasons or report.reason is ExitReason.BASELINE_FAILED
        message = [f"  {why}"] if why and not is_shown else []
        return "\n".join([end_line(report), *message, *(f"  {step}" for step in next_steps(report))])


class JsonDisplay(PlainDisplay):
    """For `--json`: collects warnings for the answer on stdout, and says on stderr if the loop has to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.warnings: dict[str, None] = {}  # each once, in the order they came

    def line(self, report: notices.Report) -> str:
        if isinstance(report, notices.LoopWarning):
            self.warnings.setdefault(report.text)
        return super().line(report) if isinstance(report, notices.TaskFileUnreadable | notices.WaitStarted) else ""

    @property
    def _has_colours(self) -> bool:
        return False

    def _put(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
