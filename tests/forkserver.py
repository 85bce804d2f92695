"""A `samuel` that starts in a tenth of the time: each command runs in a fork of a process that has imported all.

Every command still has its own process, working directory, environment and standard streams. So one command leaves
nothing for the next, and shells, pipes and scripts use it like the installed program. But it is not below its
caller in the tree of processes: tests of how Samuel starts and how it is killed use the installed program.

Beside `samuel` is a `python`. It is the interpreter, but for `python -P -m samuel`, which is how Samuel has others
call it, for example the agents of a run. A command of the fork server takes it for its interpreter, and so can a
test that runs Samuel in its own process.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import marshal
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import msgspec

from samuel.process import procfs
from samuel.process.ledger import LEDGER

# Without `site` and `socket` Python is there in 10 ms.
CLIENT = """\
#!{python} -IS
import _socket, marshal, os, signal, sys

if os.readlink("/proc/self/ns/mnt") != {namespace!r}:  # in a sandbox, which the command must not leave
    os.execv({python!r}, [{python!r}, "-P", "-m", "samuel", *sys.argv[1:]])
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
request = marshal.dumps((os.getcwdb(), dict(os.environb), sys.argv))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([len(request).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(request)
child = int.from_bytes(server.recv(8, _socket.MSG_WAITALL), "big")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(child, number))
code = server.recv(1, _socket.MSG_WAITALL)
os._exit(code[0] if code else 137)
"""

INTERPRETER = """\
#!/bin/sh
if [ "$1 $2 $3" = "-P -m samuel" ]; then shift 3; exec {client} "$@"; fi
exec {python} "$@"
"""


# What Samuel imports inside of functions.
IMPORTED_WHEN_NEEDED = (
    "encodings.utf_8_sig",
    "markdown_it",
    "packaging.requirements",
    "packaging.specifiers",
    "packaging.version",
)


@contextlib.contextmanager
def running() -> Iterator[Path]:
    """A directory with a program `samuel`, for PATH, for as long as the server runs."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        address = str(place / "socket")
        client = place / "samuel"
        namespace = os.readlink("/proc/self/ns/mnt")
        client.write_text(CLIENT.format(python=sys.executable, address=address, namespace=namespace))
        interpreter = place / "python"
        interpreter.write_text(INTERPRETER.format(client=client, python=sys.executable))
        for program in (client, interpreter):
            program.chmod(0o755)
        # An earlier test may have made this process a subreaper. It would adopt the server, and the next Samuel in
        # this process would end it as a stray.
        procfs.be_subreaper(False)
        server = subprocess.Popen(
            [sys.executable, __file__, address],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            assert server.stdout.readline() == b"ready\n", "the fork server did not start"
            server.wait()
            procfs.be_subreaper(LEDGER._subreaper)
            yield place
        finally:
            server.stdin.close()
            server.stdout.read()  # until it has ended
            server.stdout.close()


def serve(address: str) -> None:
    import_everything()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    # An orphan: Samuel ends all children of its own process, and tests call it in theirs.
    if os.fork():
        os._exit(0)
    os.setsid()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:  # the caller closes it, or has ended
        answer(listener.accept()[0], listener)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def import_everything() -> None:
    import samuel.__main__

    for module in pkgutil.walk_packages(samuel.__path__, "samuel."):
        if not module.name.endswith("__main__") and module.name != "samuel.testing":
            import_module(module.name)
    for name in IMPORTED_WHEN_NEEDED:
        import_module(name)
    compile_templates()
    build_types()
    gc.collect()
    gc.freeze()  # what is never collected is never copied for a fork


def compile_templates() -> None:
    """Compile the shipped templates: that is half of what a short run computes."""
    from samuel.prompts import jinja, render
    from samuel.report import html
    from samuel.tasks import commonmark

    html._template()
    commonmark._parser()
    for text in render._shipped_texts():
        jinja._compiled(text)


def build_types() -> None:
    """Have msgspec learn all types: each command would build those that it needs anew."""
    from samuel.base.decoding import build

    todo = [msgspec.Struct]
    while todo:
        kinds = todo.pop().__subclasses__()
        todo += kinds
        for kind in kinds:
            with contextlib.suppress(NameError, TypeError):  # one that is never decoded
                build(kind)


def answer(connection: socket.socket, listener: socket.socket) -> None:
    """Run one command in a fork. A client that is killed before it sent its request must not end the server."""
    streams: list[int] = []
    try:
        size, streams, _, _ = socket.recv_fds(connection, 8, 3)
        request = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        directory, variables, arguments = marshal.loads(request)
        # Before the fork: what runs in the child right after it reads the environment too.
        os.environb.clear()
        os.environb.update(variables)
        os.chdir(directory)
        child = os.fork()
    except (OSError, EOFError, ValueError, TypeError):
        traceback.print_exc()
        child = -1  # the client ends with 137
    if child:
        connection.close()
        for number in streams:
            os.close(number)
        return
    listener.close()
    run(connection, streams, arguments)


def run(connection: socket.socket, streams: list[int], arguments: list[str]) -> NoReturn:
    """The command, in its own process: what Python does at the start and at the end of any program."""
    from samuel.__main__ import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8", "surrogateescape")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), "utf-8", "surrogateescape")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)), "utf-8", "backslashreplace", line_buffering=True
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = arguments
    sys.executable = str(Path(arguments[0]).with_name("python"))
    connection.sendall(os.getpid().to_bytes(8, "big"))
    code = 1
    try:
        code = main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for output in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                output.flush()
        connection.sendall(bytes([code & 255]))
        os._exit(code & 255)


if __name__ == "__main__":
    serve(sys.argv[1])
