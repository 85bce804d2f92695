"""The console script `samuel`, and `python -m samuel`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable

from samuel.version import __version__

# Everything else is imported where it is used: a call of `samuel emit` needs little of it.


def program() -> int:
    """The console script `samuel`."""
    return _quickly(main) if sys.argv[1:2] == ["emit"] else main()


def main() -> int:
    # Answered before anything is imported: editors and shell prompts ask for it often.
    if sys.argv[1:] == ["--version"]:
        print(f"samuel {__version__}")
        return 0
    if sys.argv[1:2] == ["emit"]:
        return _emit(sys.argv[2:])
    return _command(sys.argv[1:])


def emit() -> int:
    """The program `samuel-emit`, where it is not a native one."""
    return _quickly(_emit_as_client)


def _quickly(answer: Callable[[], int]) -> int:
    """The exit code of a short program. Python's own start and end would be a good part of its time."""
    gc.disable()  # it ends before there is garbage worth the search
    code = answer()
    if "threading" in sys.modules:  # and with it the engine: to take that apart would be a tenth of the time
        _end_now(code)
    return code


def _emit_as_client() -> int:
    if sys.argv[1:] == ["--socket"]:
        from samuel.emit.serve.thin_client import tell_socket

        return tell_socket()
    from samuel.process.emit_client import split_server, without_deadline

    server, arguments = split_server(sys.argv[1:])
    if not server:
        return _emit(arguments)
    from samuel.emit.serve.thin_client import emit_in_run

    return emit_in_run(without_deadline(arguments), *server)


def _emit(arguments: list[str]) -> int:
    """Answered by a server, or by the engine in this process."""
    from samuel.emit.call import EmitArguments
    from samuel.process.emit_client import OFF, SWITCH, WAS_ASKED_OPTION, without_deadline

    arguments = without_deadline(arguments)
    was_asked = arguments[:1] == [WAS_ASKED_OPTION]
    if was_asked:
        del arguments[0]
    plain = EmitArguments.plain(arguments)
    if plain is None or "_SAMUEL_COMPLETE" in os.environ:
        return _command(["emit", *arguments])
    if not was_asked and os.environ.get(SWITCH) != OFF:
        from samuel.emit.serve.thin_client import emit_or_prepare

        code = emit_or_prepare(arguments)
        if code is not None:
            return code
    from samuel.cli.emit_event import emit_plain
    from samuel.cli.signals import end_as_by_ctrl_c

    end_as_by_ctrl_c()
    return emit_plain(plain, ["emit", *arguments])


def _end_now(code: int) -> None:
    import threading

    if threading.active_count() > 1 or code not in range(256):
        return
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed, or without a reader: Python would complain
            return
    os._exit(code)


def _command(arguments: list[str]) -> int:
    from samuel.cli.edge import run
    from samuel.cli.signals import end_as_by_ctrl_c

    end_as_by_ctrl_c()
    return run(arguments)


if __name__ == "__main__":
    sys.exit(program())
