"""What a hook may have changed in its process, and the next call in the same worker would find.

A new process begins in the project's directory, with the variables and the path that it was given.
"""

from __future__ import annotations

import os
import signal
import sys

_SIGNALS = (
    *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGALRM, signal.SIGPIPE),
    *(signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2),
)


def process_state() -> tuple[object, ...]:
    """The state as a value to compare. It takes a few microseconds."""
    # The kernel tells a umask only when it is replaced. A thread of the hook may create a file meanwhile.
    umask = os.umask(0o077)
    os.umask(umask)
    return (
        umask,
        _directory(),
        id(os.environ),  # a hook can put another object there
        dict(vars(os.environ).get("_data", ())),  # `os.environ` itself would decode every value
        tuple(sys.path),
        (sys.stdin, sys.stdout, sys.stderr),
        sys.getrecursionlimit(),
        tuple(map(signal.getsignal, _SIGNALS)),
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0),  # else an alarm would go off in a later call
    )


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
