"""The console script `samuel`, and `python -m samuel`."""

from __future__ import annotations

import sys

from samuel.version import __version__

TYPE_CHECKING = False  # `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Sequence


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
    if sys.argv[1:] == ["--socket"]:
        from samuel.serve.thin_client import tell_socket

        return tell_socket()
    from samuel.process.emit_client import split_server

    server, arguments = split_server(sys.argv[1:])
    return _emit(arguments, server)


def _emit(arguments: list[str], server: Sequence[str] = ()) -> int:
    """Answered by a server, or without the engine if no hook wants the event, or by the engine.

    The server is the project's, or the one of a run that `server` names.
    """
    from samuel.process.emit_client import without_deadline
    from samuel.serve.thin_client import emit_or_prepare

    arguments = without_deadline(arguments)
    code = emit_or_prepare(arguments, server)
    if code is not None:
        return code
    from samuel.emit.without_engine import answered_without_engine

    return 0 if answered_without_engine(arguments) else _command(["emit", *arguments])


def _command(arguments: list[str]) -> int:
    from samuel.cli.edge import run
    from samuel.cli.signals import end_as_by_ctrl_c

    end_as_by_ctrl_c()
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
