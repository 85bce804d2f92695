"""The output of an agent as text for the display of a run."""

from __future__ import annotations

import codecs
import re

from samuel.base.printable import without_control_sequences

MOST_HELD = 4096  # characters of a control sequence that has no end yet
MOST_OF_A_LINE = 500
_INTRODUCER = re.compile(r"[\x1b\x90\x98\x9b\x9d\x9e\x9f]|\r\Z")


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
