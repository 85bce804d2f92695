"""A command at a place that is a process of this machine: `ssh`, or `samuel` itself in tests of all places."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.places.place import PlaceBroken, PlaceLost
from samuel.process.tree import end

CHUNK = 64 * 1024
LONGEST_LINE = 64 * 1024 * 1024
STDERR_TAIL = 4000
FIRST_LINE = 60.0  # seconds that a machine has to connect and to start the command
GRACE = 20.0  # seconds that a cancelled command has to end what it started
LOOK_EVERY = 5.0  # seconds between two looks at whether a silent command has ended

JudgeEnd = Callable[[int, str], SamuelError | None]
"""What the end of a command means, by its return code and the end of its errors; None if it is in order."""


class ProcessConnection:
    """A command under way, whose input stays open until it is cancelled or has ended."""

    machine = ""  # there is one only

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        request: bytes,
        judge: JudgeEnd,
        silence: float | None,
        name: str,
        grace: float = GRACE,
    ) -> None:
        """`silence` is how many seconds without a line mean that the machine is lost.

        `grace` is how many seconds a cancelled command has to end what it started.
        """
        self._process = process
        self._unsent = memoryview(request)
        self._judge = judge
        self._silence = silence
        self._name = name
        self._stderr: deque[bytes] = deque(maxlen=64)
        self._cancelled_at: float | None = None
        self._wake, self._waker = os.pipe()
        self._grace = grace
        self._lock = threading.RLock()  # a signal may cancel the command while its thread holds it
        self._is_closed = False
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)

    def lines(self) -> Iterator[bytes]:
        """The lines of its output. Raises PlaceLost or PlaceBroken."""
        for lines in self.batches():
            yield from lines

    def batches(self) -> Iterator[list[bytes]]:
        """The lines of its output, as many at once as came. Raises PlaceLost or PlaceBroken."""
        try:
            yield from self._read()
        finally:
            self.close()

    def cancel(self) -> None:
        """Close the command's input, which tells it to end; `lines` ends it if it does not."""
        with self._lock:
            if self._cancelled_at is None:
                self._cancelled_at = time.monotonic()
                with suppress(OSError):  # it has ended
                    os.write(self._waker, b"x")

    @property
    def is_open(self) -> bool:
        return not self._is_closed

    def _read(self) -> Iterator[list[bytes]]:
        process, buffer = self._process, bytearray()
        assert process.stdin
        assert process.stdout
        assert process.stderr
        last = time.monotonic() + max(0.0, FIRST_LINE - (self._silence or FIRST_LINE))
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            selector.register(process.stdin, selectors.EVENT_WRITE)
            while True:
                ready = selector.select(self._wait_seconds(last))
                if not ready and process.poll() is not None:  # it has ended, and something holds its output open
                    self._ended()
                    return
                for key, _ in ready:
                    if key.fileobj is process.stdin:
                        self._send(selector)
                    elif key.fd == self._wake:
                        selector.unregister(self._wake)
                        self._close_input(selector)
                    elif key.fileobj is process.stderr:
                        if (chunk := _chunk(process.stderr.fileno())) == b"":
                            selector.unregister(process.stderr)
                        self._stderr.append((chunk or b"")[-STDERR_TAIL:])
                    else:
                        chunk = _chunk(process.stdout.fileno())
                        if chunk is None:
                            continue
                        if not chunk:
                            if buffer:
                                yield [bytes(buffer)]
                            self._ended()
                            return
                        buffer += chunk
                        *lines, rest = buffer.split(b"\n")
                        if lines:
                            yield list(map(bytes, lines))
                        last = time.monotonic()  # a slow reader of the lines is not silence
                        buffer = bytearray(rest)
                        if len(buffer) > LONGEST_LINE:
                            raise PlaceBroken(f"`{self._name}` printed a line of more than {LONGEST_LINE} bytes")
                self._check_time(last)

    def _wait_seconds(self, last: float) -> float:
        now = time.monotonic()
        if self._cancelled_at is not None:
            return max(0.05, min(LOOK_EVERY, self._cancelled_at + self._grace - now))
        return LOOK_EVERY if self._silence is None else max(0.05, min(LOOK_EVERY, last + self._silence - now))

    def _check_time(self, last: float) -> None:
        now = time.monotonic()
        if self._cancelled_at is not None and now >= self._cancelled_at + self._grace:
            raise PlaceLost(f"`{self._name}` did not end within {self._grace:g}s after it was cancelled")
        if self._cancelled_at is None and self._silence is not None and now >= last + self._silence:
            raise PlaceLost(
                f"nothing was heard from `{self._name}` for {self._silence:g}s",
                "look whether the machine is frozen or overloaded",
            )

    def _send(self, selector: selectors.BaseSelector) -> None:
        assert self._process.stdin
        try:
            sent = os.write(self._process.stdin.fileno(), self._unsent[:CHUNK])
        except BlockingIOError:
            return
        except OSError:  # it ended without reading its request: its end says why
            self._close_input(selector)
            return
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            selector.unregister(self._process.stdin)  # open as long as the attempt shall go on

    def _close_input(self, selector: selectors.BaseSelector) -> None:
        assert self._process.stdin
        with suppress(KeyError, ValueError):
            selector.unregister(self._process.stdin)
        with suppress(OSError):
            self._process.stdin.close()

    def _ended(self) -> None:
        """Its output is closed: wait for its end, and raise what that means."""
        until = time.monotonic() + GRACE
        while self._process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        code = self._process.poll()
        while chunk := _chunk(self._process.stderr.fileno()) if self._process.stderr else b"":
            self._stderr.append(chunk[-STDERR_TAIL:])
        if code is None:
            raise PlaceLost(f"`{self._name}` closed its output and did not end")
        if self._cancelled_at is None and (error := self._judge(code, self.stderr_tail)):
            raise error

    @property
    def stderr_tail(self) -> str:
        text = b"".join(self._stderr).decode("utf-8", "replace")[-STDERR_TAIL:]
        return safe(text, keep="\n").strip()

    def close(self) -> None:
        """End the command and everything that it started, at once. May be called twice."""
        end(self._process)
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._cancelled_at = self._cancelled_at or time.monotonic()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                with suppress(OSError):
                    if stream:
                        stream.close()
            for descriptor in (self._wake, self._waker):
                with suppress(OSError):
                    os.close(descriptor)


def _chunk(descriptor: int) -> bytes | None:
    """What can be read now: b"" at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""
