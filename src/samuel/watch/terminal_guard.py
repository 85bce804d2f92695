"""A program that gives a terminal back its modes when the view on it is killed.

It is started with a pipe from the view as standard input, the terminal as standard output and a pipe to the view
as standard error, in a session of its own, so that no signal from the terminal reaches it. READY says that it has
saved the modes of the shell. The view writes MODES_SET when it has set its own, and RESTORED when it has left them
by itself. If its pipe is closed before that, the view was killed.

It imports the standard library alone and is started by its path: it must be there before the view draws anything.
"""

from __future__ import annotations

import os
import signal
import termios
from contextlib import suppress
from typing import Any

VIEW, TERMINAL, ANSWER = 0, 1, 2
READY, MODES_SET, RESTORED = b"r", b"m", b"."

RESET = (
    b"\x1b\\"  # ends a sequence that was cut off
    b"\x1b[?2026l\x1b[?2048l"  # synchronized output, reports of the size
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse
    b"\x1b[?1004l\x1b[?2004l"  # focus, bracketed paste
    b"\x1b[?7h"  # line wrap
    b"\x1b[<u"  # keyboard protocol of kitty: before the screen changes, as each screen has its own
    b"\x1b[?1049l"  # the screen of the shell
    b"\x1b[?25h\x1b[0m"  # cursor, colours
)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    before, of_view = _modes(), None
    os.write(ANSWER, READY)
    os.close(ANSWER)
    while message := os.read(VIEW, 1):
        if message == RESTORED:
            return
        of_view = _modes()
    with suppress(OSError):
        os.write(TERMINAL, RESET)
    # A shell that has set modes of its own meanwhile keeps them.
    if before is not None and (of_view is None or _modes() == of_view):
        with suppress(termios.error):
            termios.tcsetattr(TERMINAL, termios.TCSAFLUSH, before)


def _modes() -> list[Any] | None:
    with suppress(termios.error):
        return termios.tcgetattr(TERMINAL)
    return None


if __name__ == "__main__":
    main()
