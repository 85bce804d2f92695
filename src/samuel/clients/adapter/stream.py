"""What an agent's program prints while it works, read line by line: its usage, what it does, and its trouble."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from samuel.base.clock import SystemClock
from samuel.base.decoding import decode_json
from samuel.base.printable import safe, shorten
from samuel.clients.adapter.ending import AgentEnding

AgentUsage = dict[str, int | float]
"""Tokens and cost; {} means unknown, never zero."""

Now = Callable[[], float]

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes; of a longer line nothing is read. It holds what a tool printed, never a report."""

LONGEST_ACTIVITY = 100
_LONGEST_READABLE = 2000
_RECORD = (b"{", b"[{")  # how a line begins that has one, or an array of them
_TEXT_TAIL = 2000  # characters of a text that comes in pieces
LONGEST_MESSAGE = 64 * 1024
"""Characters of a last message; of a longer one only the end is kept."""


class ObservedCall(NamedTuple):
    """A tool call that an agent's program reported."""

    call_id: str
    """"" if the program does not tell it."""
    tool_name: str
    subagent: str = ""
    """The call by which the subagent was started that made this one; "" for the agent itself."""


MOST_CALLS = 100_000  # that are kept of one run


class LineSplitter:
    """Makes lines of chunks, and leaves out lines that are too long to be held."""

    def __init__(self, take: Callable[[bytes], None], longest: int = LONGEST_LINE) -> None:
        self._take = take
        self._longest = longest
        self._begun = bytearray()
        self._is_too_long = False

    def feed(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._append(piece)
            self._end_line()
        self._append(rest)

    def close(self) -> None:
        """The last line may have no end."""
        if self._begun:
            self._end_line()

    def _append(self, piece: bytes) -> None:
        if self._is_too_long or len(self._begun) + len(piece) > self._longest:
            self._is_too_long = True
            self._begun.clear()
        else:
            self._begun += piece

    def _end_line(self) -> None:
        if not self._is_too_long:
            self._take(bytes(self._begun))
        self._begun.clear()
        self._is_too_long = False


class TextTail:
    """The end of a text that comes in pieces."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._text = ""
        self._pieces: list[str] = []
        self._size = 0

    def append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._length:  # so that a long text is not copied for each of its pieces
            self._join()

    def replace(self, text: str) -> None:
        self._text, self._pieces, self._size = text[-self._length :], [], 0

    def _join(self) -> None:
        self.replace("".join((self._text, *self._pieces)))

    @property
    def text(self) -> str:
        if self._pieces:
            self._join()
        return self._text


class PlainStream:
    """Reads one run of an agent. If its program reports nothing in a typed form, only the last line is known."""

    def __init__(self, now: Now = SystemClock.now) -> None:
        self.now = now
        self.usage: AgentUsage = {}
        """Tokens and cost so far, as the agent reports them."""
        self.activity = ""
        """What it did last, in a few words, or the last line that it said; one printable line."""
        self._last_message = TextTail(LONGEST_MESSAGE)
        self.problem: AgentEnding | None = None
        """The trouble that it reported and has not got over."""
        self.tool_calls: list[ObservedCall] = []
        """The tool calls that it reported, in order."""

    @property
    def message(self) -> str:
        """Its last message; of a program that has no messages, its output."""
        return self._last_message.text

    @property
    def words(self) -> str:
        """The end of its last message, or of its output."""
        return self._last_message.text[-_TEXT_TAIL:]

    def feed(self, line: bytes) -> None:
        """A line of its stdout. Never raises, whatever the line is."""
        text = line.decode("utf-8", "replace")
        self._last_message.append(f"{text}\n")
        if text.strip():
            self.activity = last_line(text)

    def feed_error(self, line: bytes) -> None:
        """A line of its stderr. Most clients report nothing there in a form that can be relied on."""


StreamFactory = Callable[[Now], PlainStream]


class JsonStream(PlainStream):
    """JSON objects, a line each, among other lines. A client's reader says what an object means."""

    def __init__(self, now: Now = SystemClock.now) -> None:
        super().__init__(now)
        self._call_ids: set[str] = set()
        self._text = TextTail(LONGEST_MESSAGE)  # that comes in pieces

    def feed(self, line: bytes) -> None:
        if not line.lstrip().startswith(_RECORD):
            if line.strip():
                self.activity = last_line(line.decode("utf-8", "replace"))
            return
        for record in records(line):
            self.read(record)

    def read(self, record: dict[str, Any]) -> None:
        raise NotImplementedError

    def called(self, call_id: object, tool_name: object, subagent: object = "", report: object = "") -> None:
        """The agent called a tool. A call that is reported more than once counts once.

        `report` tells the reports apart where the program has no id of the call.
        """
        call = ObservedCall(*(value if isinstance(value, str) else "" for value in (call_id, tool_name, subagent)))
        key = call.call_id or str(report)
        if len(self.tool_calls) < MOST_CALLS and not (key and key in self._call_ids):
            self._call_ids.add(key)
            self.tool_calls.append(call)

    def say(self, text: object) -> None:
        """The agent said this."""
        if isinstance(text, str) and (words := last_line(text)):
            self.activity = words
            self._last_message.replace(text)

    def say_more(self, piece: object) -> None:
        """The agent said this next piece of a text."""
        if isinstance(piece, str):
            self._text.append(piece)
        self.say(self._text.text)

    def end_text(self) -> None:
        """What it says next is another text."""
        self._text.replace("")


def records(line: bytes) -> list[dict[str, Any]]:
    """The objects on a line: one, or those of an array; none if it is not JSON."""
    try:
        value = decode_json(line)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return []
    values = value if isinstance(value, list) else [value]
    return [record for record in values if isinstance(record, dict)]


def last_line(text: str) -> str:
    """The last line of a text that says something, fit to be shown on one line."""
    lines = (" ".join(line.split()) for line in reversed(text[-_TEXT_TAIL:].splitlines()))
    return shorten(next((line for line in lines if line), ""), LONGEST_ACTIVITY)


class ReadableLog:
    """A raw log as a person would read it: what the agent did and said, a line each, and its trouble."""

    def __init__(self, factory: StreamFactory) -> None:
        self._stream = factory(SystemClock.now)
        self._splitter = LineSplitter(self._take)
        self._before: tuple[str, AgentEnding | None] = ("", None)
        self._lines: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that are complete with this chunk."""
        self._splitter.feed(chunk)
        return self._taken()

    def close(self) -> list[str]:
        """The last line, if it has no end."""
        self._splitter.close()
        return self._taken()

    def _taken(self) -> list[str]:
        lines, self._lines = self._lines, []
        return lines

    def _take(self, line: bytes) -> None:
        if not line.lstrip().startswith((b"{", b"[")):
            if text := line[:_LONGEST_READABLE].decode("utf-8", "replace").rstrip():
                self._lines.append(safe(text, keep="\t"))
            return
        self._stream.feed(line)
        activity, problem = self._stream.activity, self._stream.problem
        if activity != self._before[0]:
            self._lines.append(activity)
        if problem is not None and problem != self._before[1]:
            self._lines.append(f"{problem.kind}: {problem.reason}")
        self._before = (activity, problem)
