"""`samuel-emit`, the small client of `samuel serve`: its name, its options and its deadline.

After `--deadline SECONDS` the process ends, whatever it is doing. The kernel counts, so that no program is needed
that waits beside it, and goes on counting when the client becomes `samuel emit`. A guard that hangs has to deny
before the agent that asked stops waiting, and goes on.

Imported by a client that has to be fast.
"""

from __future__ import annotations

import os

NATIVE_CLIENT = "samuel-emit"

LONGEST_SOCKET_PATH = 107  # bytes; the kernel has no room for more

SWITCH = "SAMUEL_SERVE"
"""Set to `off`, every call is answered by a process of its own."""
OFF = "off"

NESTED = "SAMUEL_EVENT_ID"
"""Set for a hook: what it emits belongs to the event that it handles, and is answered by a process of its own."""

SERVER_OPTION = "--server"
"""In front of everything else, before four words: the path of a run's server, its process id, the time when that
process started, and the program that is started in place of `samuel emit` where this server does not answer."""

WAS_ASKED_OPTION = "--server-was-asked"
"""In front of everything else: the native client became this `samuel emit`, since no server answers the call."""

DEADLINE_OPTION = "--deadline"
LONGEST_DEADLINE = 1_000_000


class DeadlinePassed(KeyboardInterrupt):
    """The time of `--deadline` is over. Like Ctrl-C, it ends everything that was started."""

    message = f"the hooks had not answered at the deadline (`{DEADLINE_OPTION}`)"
    hint = "`samuel hooks log` shows which was running; a `timeout` in samuel.toml ends it earlier"


def installation_of(program: str, interpreter: str) -> str:
    """The directory that has the programs of this installation: that of `samuel-emit`, or the interpreter's."""
    for name in (os.path.realpath(program), interpreter):
        directory = os.path.dirname(name)
        if os.path.exists(f"{directory}/{NATIVE_CLIENT}"):
            return directory
    return os.path.dirname(interpreter)


def split_server(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The four words about the server of a run, [] if there are none, and the command line without them."""
    if arguments[:1] != [SERVER_OPTION] or len(arguments) < 5:
        return [], arguments
    return arguments[1:5], arguments[5:]


def without_deadline(arguments: list[str]) -> list[str]:
    """The command line without the deadline at its end, which counts from now. The parser reads any other one."""
    if len(arguments) < 2 or arguments[-2] != DEADLINE_OPTION:
        return arguments
    seconds = arguments[-1]
    if not seconds.isascii() or not seconds.isdecimal() or not 0 < int(seconds) <= LONGEST_DEADLINE:
        return arguments
    import signal  # with `enum`, too slow for calls without a deadline

    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # whatever our caller did to it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM,))
    signal.alarm(int(seconds))
    return arguments[:-2]
