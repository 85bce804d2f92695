"""The output of an agent as text for the display of a run."""

from __future__ import annotations

import codecs
import re

from samuel.printable import without_control_sequences

MOST_HELD = 4096  # characters of a control sequence that has no end yet
_UNFINISHED = re.compile(r"(?:\x1b[\[\]PX^_]?|[\x9b\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*\x1b?\Z")
_FINISHED = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-OQ-WYZ\\`-~]")
MOST_OF_A_LINE = 500


class AgentText:
    """Turns chunks into text without control sequences, and remembers the last line that has words in it."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # chunks may end within a character
        self._held = ""  # the beginning of a control sequence, or a carriage return
        self._line = ""  # that has no end yet
        self.last_line = ""

    def feed(self, chunk: bytes) -> str:
        """The text of a chunk. A lone carriage return, which begins a line anew, ends the line before it."""
        text = self._held + self._decode(chunk)
        self._held = ""
        unfinished = _unfinished_at(text)
        if unfinished < len(text) and len(text) - unfinished <= MOST_HELD:
            text, self._held = text[:unfinished], text[unfinished:]
        text = without_control_sequences(text).replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = (self._line + text).split("\n")
        self._line = rest[:MOST_OF_A_LINE]
        self.last_line = next((line.strip() for line in [rest, *reversed(lines)] if line.strip()), self.last_line)
        return text


def _unfinished_at(text: str) -> int:
    """Where a control sequence or a line break begins that the next chunk may go on with; the end if none does."""
    if text.endswith("\r"):
        return len(text) - 1
    match = _UNFINISHED.search(text)
    if match is None or _FINISHED.match(text, match.start()):
        return len(text)
    return match.start()
