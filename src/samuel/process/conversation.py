"""A process that stays and is asked again and again: a line to it, a line from it.

The lines have descriptors of their own, so that nothing the process prints can be taken for an answer: its
stdout and stderr are one stream, kept apart from the answers. Some processes have no descriptors but the usual
three (a container's): with them the lines are stdin and stdout, and only stderr is kept apart.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from samuel.process.pump import STDERR_KEPT
from samuel.process.tree import ChildProcess, end

if TYPE_CHECKING:
    from samuel.process.forked import ForkedProcess

_CHUNK = 64 * 1024


class ConversationReply(msgspec.Struct, frozen=True):
    """What came of asking."""

    ended: Literal["answered", "timed_out", "too_much_output", "died"]
    answer: bytes = b""
    stderr: bytes = b""
    returncode: int = 0  # for `died`


class Conversation:
    """One process, one question at a time. After anything but an answer it is over, and its tree is ended."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        pass_fds: Sequence[int] = (),
        over_stdio: bool = False,
        after: Callable[[], None] | None = None,
        forked: Callable[[int, int], None] | None = None,
    ) -> None:
        """Start it. The numbers of the two descriptors are its last two arguments, unless it is `over_stdio`.

        `after` is called when its processes have ended. With `forked` it is a fork of this process that calls this
        function with the two descriptors, in place of the program. Raises NotRunnable.
        """
        self._after = after
        self._relayed = over_stdio  # by a container's monitor, which keeps no order between the streams
        their_in, self._ask = os.pipe()
        self._answer, their_out = os.pipe()
        self._aside, their_err = os.pipe()
        theirs = (their_in, their_out, their_err)
        try:
            if forked is not None:
                self._process: ChildProcess = _fork(forked, their_in, their_out, their_err, cwd, env, argv)
            else:
                from samuel.process.spawn import DEVNULL, start  # with subprocess, which forks do without

                self._process = start(
                    argv if over_stdio else [*argv, str(their_in), str(their_out)],
                    cwd=cwd,
                    env=env,
                    stdin=their_in if over_stdio else DEVNULL,
                    stdout=their_out if over_stdio else their_err,
                    stderr=their_err,
                    pass_fds=pass_fds if over_stdio else (their_in, their_out, *pass_fds),
                )
        except BaseException:
            self._close_pipes()
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        for fd in (self._ask, self._answer, self._aside):
            os.set_blocking(fd, False)
        self._poll = select.poll()
        self._poll.register(self._answer, select.POLLIN)
        self._poll.register(self._aside, select.POLLIN)
        self.over = False

    def ask(self, line: bytes, *, timeout: float, limit: int) -> ConversationReply:
        """Send one line, wait for one line back, for at most `timeout` seconds and `limit` bytes."""
        until = time.perf_counter() + timeout
        rest = memoryview(line)
        answer, aside = bytearray(), bytearray()
        asking = self._send(rest)
        if asking:
            self._poll.register(self._ask, select.POLLOUT)
        ended: Literal["answered", "timed_out", "too_much_output", "died"] = "answered"
        while not answer.endswith(b"\n"):
            if (left := until - time.perf_counter()) <= 0:
                ended = "timed_out"
                break
            for fd, _ in self._poll.poll(left * 1000):
                if fd == self._ask:
                    asking = self._send(asking)
                    if not asking:
                        self._poll.unregister(self._ask)
                elif fd == self._aside:
                    if not self._take_aside(aside):
                        self._poll.unregister(self._aside)
                elif not (chunk := _read(self._answer)):
                    ended = "died"
                else:
                    answer += chunk
            if ended == "died":
                break
            if len(answer) > limit:
                ended = "too_much_output"
                break
        if ended != "answered":
            self.close()
            aside += self._stderr_at_end
        elif self._relayed:
            self._take_aside(aside)
        # Else what was printed before the answer was there when `poll` reported the answer, and has been taken.
        return ConversationReply(ended, bytes(answer), bytes(aside[-STDERR_KEPT:]), self._process.returncode or 0)

    @property
    def stale(self) -> bool:
        """Whether it died between questions, or wrote something where only answers belong."""
        return any(fd == self._answer for fd, _ in self._poll.poll(0))

    def close(self) -> None:
        """End the process and everything under it. Asked to, an idle one ends by itself: its input is over."""
        if self.over:
            return
        self.over = True
        os.close(self._ask)
        self._ask = -1
        end(self._process)
        aside = bytearray()
        while self._take_aside(aside) and len(aside) < 2 * STDERR_KEPT:
            pass
        self._stderr_at_end = bytes(aside)
        self._close_pipes()
        if self._after is not None:
            self._after()

    _stderr_at_end = b""

    def _send(self, rest: memoryview) -> memoryview:
        """As much as it takes now; gives what is left."""
        try:
            while rest:
                rest = rest[os.write(self._ask, rest) :]
        except BlockingIOError:
            return rest
        except OSError:  # it is gone: the answer's end will say so
            return memoryview(b"")
        return rest

    def _take_aside(self, aside: bytearray) -> bool:
        """What was printed meanwhile; False when there is nothing (more) to come."""
        chunk = _read(self._aside)
        if chunk:
            aside += chunk
            if len(aside) > 2 * STDERR_KEPT:
                del aside[:-STDERR_KEPT]
        return bool(chunk)

    def _close_pipes(self) -> None:
        for fd in (self._ask, self._answer, self._aside):
            if fd >= 0:
                os.close(fd)


def _fork(
    forked: Callable[[int, int], None],
    requests: int,
    answers: int,
    output: int,
    cwd: str,
    env: Mapping[str, str],
    argv: Sequence[str],
) -> ForkedProcess:
    from samuel.process.forked import fork  # only where a fork replaces an interpreter
    from samuel.process.reason import NotRunnable, why_not

    try:
        return fork(partial(forked, requests, answers), cwd=cwd, env=env, output=output, keep=(requests, answers))
    except OSError as error:
        raise NotRunnable(why_not(error, argv, cwd, env)) from error


def _read(fd: int) -> bytes | None:
    """b"" at the end, None when there is nothing yet."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
