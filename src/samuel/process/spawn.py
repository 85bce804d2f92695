"""Start a program, give it its input, wait for it, and leave nothing of it behind."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from samuel.process.ledger import LEDGER, MARK
from samuel.process.pump import STDERR_KEPT, Pump, Stopped
from samuel.process.reason import NotRunnable, why_not
from samuel.process.tree import Tree

DEVNULL = subprocess.DEVNULL
OUTPUT_LIMIT = 8 * 1024 * 1024
GRACE = 0.2


class Finished(NamedTuple):
    """How a program ended, and what it said until then."""

    ended: Literal["exited", "timed_out", "too_much_output", "stopped", "not_started"]
    returncode: int
    """As subprocess has it: negative for a signal. Only means something for `exited`."""
    stdout: bytes
    stderr: bytes
    """The last 64 KiB."""
    duration: float
    """Seconds, clean-up included."""
    why: str = ""
    """For `not_started`: the reason in plain words."""


class StopCheck(Protocol):
    """Decides while a program runs whether it is ended early."""

    every: float
    """It is asked at least once in so many seconds."""

    def __call__(self, cpu_seconds: Callable[[], float | None]) -> bool:
        """True ends the program. `cpu_seconds` gives the CPU time of its whole tree, or None if it is unknown."""


def run(  # noqa: PLR0913  like subprocess.run: keywords, of which most callers use three
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout: float | None = None,
    output_limit: int = OUTPUT_LIMIT,
    grace: float = GRACE,
    on_output: Callable[[bytes], None] | None = None,
    stdout_to: Callable[[bytes], object] | None = None,
    stderr_to: Callable[[bytes], object] | None = None,
    keep: int | None = None,
    pass_fds: Sequence[int] = (),
    stop: StopCheck | None = None,
    executable: str | None = None,
) -> Finished:
    """Run a program to its end, or to `timeout`; then nothing of its process tree is left.

    A program that cannot be started is a result (`not_started`), not an exception. At the deadline the whole
    tree gets SIGTERM and, `grace` seconds later, SIGKILL. More stdout than `output_limit` is SIGKILL at once.
    `on_output` is given stdout and stderr as they come, and each is also given to its own function, `stdout_to` or
    `stderr_to`; when any of that raises, or on Ctrl-C, the tree is killed and the exception goes on to the
    caller. `stop` may end the program early, in the same way as the deadline does (`stopped`). With `keep` only
    the last `keep` bytes of stdout are held in memory and given back. `pass_fds` are descriptors that the program
    gets under the same numbers. With `executable` that file is the program, and `argv[0]` only what it is told.

    May be called from many threads at the same time.
    """
    started = time.perf_counter()
    try:
        pump = Pump(stdin, output_limit, on_output, stdout_to, stderr_to, keep)
    except OSError as error:
        return Finished("not_started", 0, b"", b"", 0.0, why_not(error, argv, cwd, env))
    try:
        with Tree() as call:
            try:
                process = _popen(argv, cwd, env, call.mark, pump.ends, pass_fds, executable)
            except (OSError, ValueError) as error:
                lasted = time.perf_counter() - started
                return Finished("not_started", 0, b"", b"", lasted, why_not(error, argv, cwd, env))
            call.started(process)
            pump.started(process.pid, call.exited)
            ended = _until_it_ends(pump, call, None if timeout is None else started + timeout, grace, stop)
            call.kill()
            pump.drain()
    finally:
        pump.close()
    return Finished(
        ended,
        process.returncode,
        bytes(pump.stdout if keep is None else pump.stdout[-keep:]),
        bytes(pump.stderr[-STDERR_KEPT:]),
        time.perf_counter() - started,
    )


def start(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program that outlives this call, such as a worker. End it with `tree.end`, also when it died.

    Raises NotRunnable.
    """
    mark = LEDGER.new_mark()
    with LEDGER.busy():
        try:
            process = _popen(argv, cwd, env, mark, (stdin, stdout, stderr), pass_fds)
        except (OSError, ValueError) as error:
            raise NotRunnable(why_not(error, argv, cwd, env)) from error
        LEDGER.remember(process.pid, mark)
    return process


def _popen(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    mark: str,
    streams: tuple[int, int, int],
    pass_fds: Sequence[int] = (),
    executable: str | None = None,
) -> subprocess.Popen[bytes]:
    if not argv:
        raise ValueError("empty command")
    stdin, stdout, stderr = streams
    # A session of its own, so that Ctrl-C reaches us alone and we decide what becomes of the tree. No
    # preexec_fn: it would turn vfork into fork, which costs milliseconds.
    return subprocess.Popen(
        argv,
        executable=executable,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env={**env, MARK: mark},
        start_new_session=True,
        pass_fds=pass_fds,
    )


def _until_it_ends(
    pump: Pump, call: Tree, deadline: float | None, grace: float, stop: StopCheck | None
) -> Stopped:
    if stop is None:
        ended = pump.run(deadline)
    else:
        check = stop
        ended = pump.run(deadline, lambda: check(call.cpu_seconds), check.every)
    if ended in ("timed_out", "stopped"):
        call.terminate()
        until = time.perf_counter() + grace
        # It may want to say something while it cleans up, and must not block on that.
        pump.run(until)
        call.wait(until)
    return ended
