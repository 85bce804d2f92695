"""A process that goes on from where this one is, instead of starting an interpreter and importing all over again.

Only for a program of Samuel's own that has a single thread, and only on Linux. The fork is made to look like a new
interpreter that was started with `-P`, in its own session and with its own environment: what hooks run in it must
not depend on how it came to be. What differs: `sys.flags`, which cannot be changed, `sys.orig_argv`, `sys.argv`,
`sys._xoptions`, what /proc says of its environment, and more modules of the standard library and of Samuel are
imported already.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from types import ModuleType
from typing import NoReturn

from samuel.process.ledger import LEDGER, MARK, reap
from samuel.process.passed import INTERPRETER_PREFIXES

PYCACHE = "PYTHONPYCACHEPREFIX"
# The interpreter's variables whose effect a fork can take back, if it is to have others.
_TAKEN_BACK = (PYCACHE, "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")


class ForkedProcess:
    """The fork, as the process that started it sees it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The return code, as subprocess has it; None while it lives."""
        if self.returncode is None:
            self.returncode = reap(self.pid)
        return self.returncode


def can_fork(env: Mapping[str, str]) -> bool:
    """Whether a fork with this environment would be what an interpreter that is started with it is."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    ours = (name for name in os.environ if name.startswith(INTERPRETER_PREFIXES))
    theirs = (name for name in env if name.startswith(INTERPRETER_PREFIXES))
    return (
        LEDGER.linux
        and LEDGER.alone
        and _has_one_thread()
        and all(stream is not None and not stream.closed for stream in streams)
        and all(name in _TAKEN_BACK for name in ours)
        and all(name == PYCACHE for name in theirs)
        and not (sys.flags.isolated or sys.flags.no_site or sys.flags.dev_mode or sys.flags.optimize)
        and not sys.warnoptions
    )


def _has_one_thread() -> bool:
    """Whether there is no other thread, also none that Python does not know."""
    if threading.active_count() > 1:
        return False
    for _ in range(20):  # to the kernel, a thread that has returned lives for a moment longer
        if len(os.listdir("/proc/self/task")) == 1:
            return True
        time.sleep(0.0001)
    return False


def fork(
    run: Callable[[], None], *, cwd: str, env: Mapping[str, str], output: int, keep: tuple[int, ...]
) -> ForkedProcess:
    """Fork a process that outlives this call and runs `run`. End it with `tree.end`, also when it died.

    Its stdout and stderr are `output`; of the other descriptors it has only those to `keep`. Raises OSError.
    """
    mark = LEDGER.new_mark()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with LEDGER.busy():
        # A signal must not be handled by the fork as it is here: the handler would unwind to our caller.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = os.fork()
            if not pid:
                _become(run, cwd, {**env, MARK: mark}, output, keep, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        LEDGER.remember(pid, mark)
    return ForkedProcess(pid)


def _become(
    run: Callable[[], None],
    cwd: str,
    env: Mapping[str, str],
    output: int,
    keep: tuple[int, ...],
    mask: Iterable[int],
) -> NoReturn:
    code = 1
    try:
        os.setsid()
        os.chdir(cwd)
        _default_signals(mask)
        _separate_files(output, keep)
        os.environ.clear()
        os.environ.update(env)
        _renew_interpreter(env)
        run()
        code = 0
    except BaseException:  # noqa: BLE001  nothing of the caller's code may run here
        import traceback  # only for an exception that was not caught

        traceback.print_exc()
    finally:
        _flush_and_exit(code)


def _default_signals(mask: Iterable[int]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _separate_files(output: int, keep: tuple[int, ...]) -> None:
    gc.freeze()  # what the caller has open must not be closed once more, under a number that is another file's
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > 2 and fd not in keep:
            try:
                os.close(fd)
            except OSError:  # the one of the listing itself
                continue


def _renew_interpreter(env: Mapping[str, str]) -> None:
    """What is not the same in an interpreter that was started with `-P -c`."""
    assert sys.__stdin__ is not None  # not closed, as `can_fork` saw
    encoding, errors = sys.__stdin__.encoding, sys.__stdin__.errors or "strict"
    # Kept alive: their buffers and numbers are those of the caller.
    _FORMER_OBJECTS.extend((sys.stdin, sys.stdout, sys.stderr))
    _FORMER_OBJECTS.extend((sys.__stdin__, sys.__stdout__, sys.__stderr__))
    sys.stdin = _stream(0, "r", encoding, errors)
    sys.stdout = _stream(1, "w", encoding, errors)
    sys.stderr = _stream(2, "w", encoding, "backslashreplace")
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)
    if not sys.flags.safe_path:
        del sys.path[0]  # the directory of the script
    _FORMER_OBJECTS.append(dict(sys.path_importer_cache))  # to free it would copy every page that has a part of it
    sys.path_importer_cache.clear()
    sys.pycache_prefix = env.get(PYCACHE)
    sys.dont_write_bytecode = False
    sys.argv = ["-c"]
    gc.enable()  # which `samuel emit` does without
    sys.modules["__main__"] = ModuleType("__main__")


_FORMER_OBJECTS: list[object] = []


def _stream(fd: int, mode: str, encoding: str, errors: str) -> TextIOWrapper:
    raw = FileIO(fd, mode, closefd=False)
    raw.name = ("<stdin>", "<stdout>", "<stderr>")[fd]
    buffer = BufferedReader(raw) if mode == "r" else BufferedWriter(raw)
    stream = TextIOWrapper(buffer, encoding, errors, line_buffering=fd == 2)
    stream.mode = mode  # type: ignore[misc]  # as the interpreter does
    return stream


def _flush_and_exit(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)
