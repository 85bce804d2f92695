"""One process that we started and everything that came of it: found, ended, reaped.

A process can leave its parent, its process group and its session, but it cannot leave its ancestors: with
PR_SET_CHILD_SUBREAPER an orphan becomes our child. So what is left of a call is

    what is below its process     found through the kernel's lists of children
    orphans that came to us       in the list of our main thread, and told apart by two signs: the session is
                                  the one our process opened, or the environment carries the call's mark

Samuel may be embedded in another program. Children of that program show neither sign and are never
touched, unless that program said `own_all_children()`. (One side effect stays while something of ours is alive:
orphans of the host's own children come to the host too, instead of to init. And a zombie that led a session of its
own and left no other process in it looks like a dead child of the host: the host has to reap it, unless we are
alone.)

Without the kernel's lists (other POSIX) only the process group is ended: a daemon that called setsid escapes.
"""

from __future__ import annotations

import os
import signal
import time
from types import TracebackType
from typing import Protocol

from samuel.process import procfs
from samuel.process.ledger import LEDGER, MARK, any_child, reap

_KILL_WITHIN = 0.5  # seconds; what SIGKILL has not ended by then sits in the kernel, and waiting will not help


def own_all_children() -> None:
    """This process is Samuel's alone: every child that we did not start is a stray, to be killed and reaped.

    That also gets a daemon that took a new session and cleared its environment.
    """
    LEDGER.alone = True


class ChildProcess(Protocol):
    """A process that was started here: what a `subprocess.Popen` has, and a `ForkedProcess`."""

    returncode: int | None

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None:
        """The return code; None while it lives."""


def end(process: ChildProcess | int, grace: float = 0.2) -> None:
    """End a process that outlived its call (a worker) and all below it: SIGTERM, `grace` seconds, SIGKILL.

    Also right for a process that is dead already: what it left behind goes too. Takes at most grace + 0.5 s.
    The pipes of a Popen stay the caller's to close.
    """
    pid = process if isinstance(process, int) else process.pid
    tree = Tree(LEDGER.started.get(pid, ""))
    tree.root = pid
    if not isinstance(process, int):
        tree.process = process
        tree.returncode = process.poll()
    with tree:
        tree.terminate()
        tree.wait(time.perf_counter() + grace)
    LEDGER.forget(pid)


def kill_all() -> None:
    """Kill all that this process started. The threads that wait for it see it end, and clean up."""
    with LEDGER.lock:
        for pid in LEDGER.started.keys() - LEDGER.spared:
            _signal_group(pid, signal.SIGKILL)


class CallsEnded(BaseException):
    """The processes of this call were killed by us, so that it comes to no result.

    Not an Exception: what makes a result of any fault must not make one of this.
    """


def end_calls() -> None:
    """Kill all that this process started; until `resume_calls`, `check_calls` raises in the threads that waited.

    A hook that we kill has not crashed: it could still have denied.
    """
    LEDGER.ending = True
    kill_all()


def resume_calls() -> None:
    """Processes may be started and waited for again."""
    LEDGER.ending = False


def check_calls() -> None:
    """Raise CallsEnded if what this process started is being killed."""
    if LEDGER.ending:
        raise CallsEnded


def end_leftovers(name: str, value: str, *, prefix: bool = False) -> int:
    """Kill what an earlier process of ours, now dead, left running; how many.

    These are all that carry this variable, or one whose value begins so.
    """
    left = [pid for pid in procfs.carrying(name, value, prefix=prefix) if pid != os.getpid()]
    for pid in left:
        _signal(pid, signal.SIGKILL)
    return len(left)


class Tree:
    """As a context: one call. However the block is left, nothing of the call stays behind."""

    def __init__(self, mark: str = "") -> None:
        self.mark = mark or LEDGER.new_mark()
        self.root = 0
        self.process: ChildProcess | None = None
        self.returncode: int | None = None  # None until the root is reaped
        self._former_members: set[int] = set()  # pids that were found in it, at whatever time
        self._sessions: set[int] = set()  # sessions that were opened in it
        self._gone = False

    def __enter__(self) -> Tree:
        LEDGER.enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.kill()
        finally:
            LEDGER.leave()
            if self.process is not None and self.process.returncode is None:
                self.process.returncode = -signal.SIGKILL if self.returncode is None else self.returncode

    def started(self, process: ChildProcess) -> None:
        self.process = process
        self.root = process.pid
        LEDGER.remember(process.pid, self.mark)

    def exited(self) -> bool:
        """Has the root ended? It stays a zombie where the system allows, so that its pid is not reused."""
        if self.returncode is not None:
            return True
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            self._reap_root()
            return self.returncode is not None
        try:
            return os.waitid(os.P_PID, self.root, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def cpu_seconds(self) -> float | None:
        """The CPU time that it has used so far; None where that cannot be known."""
        if not LEDGER.linux:
            return None
        with LEDGER.lock:
            return sum(procfs.cpu_seconds(pid) for pid in self._members())

    def terminate(self) -> None:
        """SIGTERM, once to each: a second one makes some programs give up their clean-up."""
        with LEDGER.lock:
            if LEDGER.linux:
                for pid in self._members():
                    _signal(pid, signal.SIGTERM)
            elif self._holds_pid():
                _signal_group(self.root, signal.SIGTERM)

    def wait(self, until: float) -> None:
        """Until nothing of it lives, or until then (`time.perf_counter`)."""
        pause = 0.0002
        while self._alive() and time.perf_counter() < until:
            time.sleep(pause)
            pause = min(2 * pause, 0.005)

    def kill(self, within: float = _KILL_WITHIN) -> None:
        """SIGKILL and reap until a look around finds nothing: what forked meanwhile is next."""
        until = time.perf_counter() + within
        pause = 0.0002
        while not self._gone and self._strike():
            if time.perf_counter() > until:
                self._give_up()
                break
            time.sleep(pause)
            pause = min(2 * pause, 0.005)
        self._gone = True

    def _strike(self) -> bool:
        """One round. True when there was something to kill, so another look is due."""
        with LEDGER.lock:
            # The group first, and before its leader is reaped: the zombie keeps the number from being reused,
            # and the kernel signals a group in one go, so a member cannot fork its way out. Without the lists
            # the group is all there is; while it has members, its number stays taken too.
            if self._holds_pid() or (self.root > 0 and not LEDGER.linux):
                _signal_group(self.root, signal.SIGKILL)
            if self._holds_pid():
                self._reap_root()
            members = self._members()
            for pid in members:
                _signal(pid, signal.SIGKILL)
            for pid in members:
                if pid != self.root:
                    reap(pid)
            return bool(members)

    def _give_up(self) -> None:
        with LEDGER.lock:
            LEDGER.forget(self.root)
            LEDGER.undead |= {pid for pid in self._members() if reap(pid) is None}

    def _holds_pid(self) -> bool:
        return self.root > 0 and self.returncode is None

    def _reap_root(self) -> None:
        # Forgotten under the same lock as reaped: the number may come back at once, as another thread's
        # process.
        with LEDGER.lock:
            self.returncode = reap(self.root)
            if self.returncode is not None:
                LEDGER.forget(self.root)

    def _members(self) -> list[int]:
        """All that is left, parents first: signalled in this order, no parent sees a child die before its turn."""
        own = [self.root] if self._holds_pid() else []
        if not LEDGER.linux:
            return own
        # Numbers below our own children could in theory be reused between this look and the signal. It would
        # take a whole turn of the pid counter within microseconds.
        members = procfs.with_descendants(own + self._orphans())
        self._former_members.update(members)
        return members

    def _alive(self) -> bool:
        with LEDGER.lock:
            if not LEDGER.linux:
                return self._holds_pid() and not self.exited()
            return any((stat := procfs.stat(pid)) and not stat.dead for pid in self._members())

    def _orphans(self) -> list[int]:
        """Children of ours that were not started here and belong to this call."""
        if not any_child():  # the usual end of a call: one system call instead of three
            return []
        unknown = [pid for pid in procfs.main_thread_children() if pid not in LEDGER.started]
        if LEDGER.alone and LEDGER.in_flight == 1:
            return unknown
        ours: list[int] = []
        # A look at one can say whose another is: the daemon carries the mark, the dead leader of its session not.
        while more := [pid for pid in unknown if pid not in ours and self._is_ours(pid)]:
            ours += more
        return ours

    def _is_ours(self, pid: int) -> bool:
        stat = procfs.stat(pid)
        if stat is None:
            return False
        ours = pid in self._former_members or stat.session in self._sessions or stat.session == self.root > 0
        if not ours and stat.dead:
            # No environment to look at any more. A child that was started here has our session, or opened
            # one of its own; with any other it is an orphan without a waiter: init would have reaped it.
            ours = stat.session not in (os.getsid(0), pid)
        elif not ours:
            ours = procfs.environ_has(pid, MARK, self.mark)
        if ours:
            self._sessions.add(stat.session)
        return ours


def _signal(pid: int, signum: int) -> None:
    try:
        os.kill(pid, signum)
    except (ProcessLookupError, PermissionError):  # gone, or it became another user: not ours to end
        pass


def _signal_group(pid: int, signum: int) -> None:
    try:
        os.killpg(pid, signum)
    except (ProcessLookupError, PermissionError):  # macOS says EPERM for a group of zombies
        pass
