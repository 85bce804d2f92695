"""The native client: it compiles without a warning, looks where the server listens, and survives any answer."""

from __future__ import annotations

import os
import random
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.length import at_length

from samuel.emit.call import STDOUT, EmitAnswer
from samuel.emit.serve import wire
from samuel.emit.serve.socket_name import socket_path
from samuel.process import procfs
from samuel.process.emit_client import NATIVE_CLIENT
from samuel.version import __version__

from .served_project import THIN, ServedProject, fake_server, read_header
from .test_faults import AFTER_COMMITTED, COMMITTED, GOOD

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src/native/samuel_emit.c"
STUB = "#!/bin/sh\ncat > /dev/null\necho cold\nexit 3\n"  # in place of `samuel`: the client became it

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="NOT TESTED: no C compiler")


@pytest.fixture(scope="module")
def build() -> Mapping[str, Any]:
    """The names of hatch_build.py, which does without hatchling until a wheel is built."""
    name = "hatchling.builders.hooks.plugin.interface"
    stub = types.ModuleType(name)
    stub.BuildHookInterface = dict  # type: ignore[attr-defined]
    before = {key: sys.modules.get(key) for key in (name,)}
    sys.modules.setdefault(name, stub)
    try:
        return runpy.run_path(str(ROOT / "hatch_build.py"))
    finally:
        for key, module in before.items():
            if module is None:
                del sys.modules[key]


def compiled(build: Mapping[str, Any], directory: Path, *flags: str) -> Path:
    (directory / "passed.h").write_text(build["passed_header"](ROOT))
    program = directory / NATIVE_CLIENT
    words = ["cc", *build["FLAGS"], "-Werror", *flags, f'-DSAMUEL_VERSION="{__version__}"', "-I", str(directory)]
    done = subprocess.run([*words, "-o", str(program), str(SOURCE)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (directory / "samuel").write_text(STUB)
    (directory / "samuel").chmod(0o755)
    return program


@pytest.fixture(scope="module", params=["bare", "libc"])
def client(
    request: pytest.FixtureRequest, build: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The client alone in its directory, with a stub beside it that says that it was started."""
    if request.param == "bare" and (sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64")):
        pytest.skip("only Linux on two kinds of processors does without a C library")
    return compiled(build, tmp_path_factory.mktemp("native"), *(build["BARE"] if request.param == "bare" else ()))


@pytest.fixture(scope="module")
def runtime() -> Iterator[Path]:
    """A runtime directory whose name is short: that of a socket in it has to fit."""
    with tempfile.TemporaryDirectory(prefix="samuel-test-") as directory:
        Path(directory, "samuel").mkdir(mode=0o700)
        yield Path(directory)


def answers(connection: socket.socket) -> None:
    read_header(connection)
    connection.sendall(wire.frame(wire.ANSWER, GOOD))


@needs_compiler
def test_client_without_a_server_starts_samuel_with_all_of_stdin(client: Path, served: ServedProject) -> None:
    data = b"x" * 3_000_000
    (client.parent / "samuel").write_text('#!/bin/sh\necho "$*"\nwc -c\n')

    def takes_stdin(connection: socket.socket) -> None:
        read_header(connection)
        connection.sendall(wire.frame(wire.ACCEPTED))
        wire.read_data(connection.recv, wire.LARGEST_FRAME)
        connection.sendall(wire.frame(wire.COLD, b"no"))

    with fake_server(served.socket(str(client.parent)), takes_stdin):
        answer = served.run([str(client)], "E", "--session", "a b", stdin=data)
    (client.parent / "samuel").write_text(STUB)
    assert answer.out == b"emit --server-was-asked E --session a b\n3000000\n"


@needs_compiler
def test_client_gives_an_answer_that_is_larger_than_the_buffers_of_a_socket(
    client: Path, served: ServedProject
) -> None:
    """It sleeps until the server has said all, which the server cannot until the client reads."""
    text = "x" * 3_000_000

    def answers_at_length(connection: socket.socket) -> None:
        read_header(connection)
        connection.sendall(COMMITTED)
        connection.sendall(wire.frame(wire.ANSWER, wire.encode_answer(EmitAnswer(0, ((STDOUT, text),)), "utf-8")))

    with fake_server(served.socket(str(client.parent)), answers_at_length):
        answer = served.run([str(client)], "PreAbilityCall", stdin=b"{}")
    assert (answer.code, answer.out) == (0, text.encode())


@needs_compiler
def test_client_without_samuel_denies(client: Path, served: ServedProject, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / NATIVE_CLIENT
    alone.parent.mkdir()
    shutil.copy(client, alone)
    done = served.run([str(alone)], "PreAbilityCall", PATH="/no/such/place")
    assert (done.code, done.out) == (2, b"")
    assert b"cannot start `samuel`" in done.err


BECOMES = ["native", "python"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux a run has a server")
@pytest.mark.parametrize("becomes", BECOMES)
@pytest.mark.parametrize("is_asked", [True, False], ids=["by a server that does not take the call", "alone"])
def test_client_in_a_run_becomes_the_program_that_is_named_with_all_that_it_was_given(
    client: Path, becomes: str, is_asked: bool, served: ServedProject, tmp_path: Path
) -> None:
    program = [str(client)] if becomes == "native" else list(THIN)
    fallback = put_fallback(tmp_path, 'echo "$0 $*"\nwc -c\ngrep SigIgn /proc/self/status\nexit 7\n')
    data = b"x" * 3_000_000

    def takes_stdin(connection: socket.socket) -> None:
        read_header(connection)
        wire.read_data(connection.recv, wire.LARGEST_FRAME)
        connection.sendall(wire.frame(wire.COLD, b"no"))

    path = f"{served.runtime}/run"
    own = (str(os.getpid()), str(procfs.born(os.getpid())))
    with fake_server(path, takes_stdin) if is_asked else nullcontext():
        answer = served.run([*program, "--server", path, *own, fallback], "--as", "claude", "E", stdin=data)
    assert answer.code == 7
    called_as, size, ignored = answer.out.decode().splitlines()
    assert (called_as, size.strip()) == (f"{fallback} --as claude E", "3000000")
    assert not int(ignored.split()[1], 16) & 1 << (signal.SIGPIPE - 1)


@needs_compiler
@pytest.mark.parametrize("becomes", BECOMES)
def test_deadline_ends_also_the_program_that_a_client_in_a_run_becomes(
    client: Path, becomes: str, served: ServedProject, tmp_path: Path
) -> None:
    program = [str(client)] if becomes == "native" else list(THIN)
    fallback = put_fallback(tmp_path, "exec sleep 1000\n")
    address = ["--server", "/no/such/socket", "1", "1", fallback]
    ended = served.run([*program, *address], "--as", "claude", "E", "--deadline", "1")
    assert ended.code == -signal.SIGALRM


def put_fallback(directory: Path, script: str) -> str:
    file = directory / "fallback"
    file.write_text(f"#!/bin/sh\n{script}")
    file.chmod(0o755)
    return str(file)


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space of a process")
def test_client_without_memory_denies_and_says_why(client: Path, served: ServedProject) -> None:
    def takes_stdin(connection: socket.socket) -> None:
        read_header(connection)
        connection.recv(1)  # it never comes

    limited = ["sh", "-c", 'ulimit -v 4096; exec "$@"', "sh", str(client)]
    with fake_server(served.socket(str(client.parent)), takes_stdin):
        denied = served.run(limited, "PreAbilityCall", stdin=b"x" * 9_000_000)
    assert (denied.code, denied.out) == (2, b"")
    assert denied.err == b"error: `samuel-emit` has no memory left, so this is denied\n"


NAMES = st.sampled_from(
    [
        *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LC_", "TZ", "TERM", "NO_COLOR", "HTTP_PROXY", "no_proxy"),
        *("SAMUEL_X", "SAMUEL_TRUST", "PYTHONPATH", "PYTHON", "XDG_DATA_HOME", "OTHER", "PATHS", "LAN", "SAMUEL"),
    ]
)
VALUES = st.sampled_from(["", "C", "C.UTF-8", "UTF-8", "POSIX", "off", "a=b", "de_DE.UTF-8"]) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8
)
PARTS = st.text(st.sampled_from("ab ö.-"), min_size=1, max_size=6).filter(lambda part: set(part) != {"."})
MARKS = st.sampled_from(["samuel.toml", ".git", ".system/hooks", "samuel.toml/", ".git/"])


@needs_compiler
@settings(max_examples=at_length(10, 200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    variables=st.dictionaries(NAMES, VALUES, max_size=5),
    parts=st.lists(PARTS, min_size=1, max_size=3),
    marks=st.lists(st.tuples(st.integers(0, 3), MARKS), max_size=3),
)
def test_client_looks_where_the_server_of_its_project_listens(
    client: Path,
    runtime: Path,
    tmp_path_factory: pytest.TempPathFactory,
    variables: dict[str, str],
    parts: list[str],
    marks: list[tuple[int, str]],
) -> None:
    """The same name in C and in Python, for any variables and any root."""
    from samuel.base.project_root import project_root

    top = tmp_path_factory.mktemp("root")
    directory = top.joinpath(*parts)
    directory.mkdir(parents=True)
    for depth, mark in marks:
        place = top.joinpath(*parts[:depth]) / mark
        if place.exists():
            continue
        if mark.endswith(("/", "hooks")):
            place.mkdir(parents=True)
        else:
            place.touch()
    environment = {"XDG_RUNTIME_DIR": str(runtime), **variables}
    if environment.get("SAMUEL_SERVE") == "off":
        return
    encoded = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
    path = socket_path(project_root(str(directory)), str(client.parent), encoded)
    with fake_server(path, answers):
        done = subprocess.run(
            [client, "PreAbilityCall"],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    assert (done.returncode, done.stdout) == (0, b"{}\n"), done


@pytest.mark.slow
@needs_compiler
def test_client_survives_garbage_under_the_sanitizers(
    build: Mapping[str, Any], served: ServedProject, tmp_path: Path
) -> None:
    """Whatever a server sends: its answer, the one of COMMITTED, or the cold path; never a fault of memory."""
    directory = tmp_path / "sanitized"
    directory.mkdir()
    try:
        program = compiled(build, directory, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    except AssertionError as error:
        pytest.skip(f"NOT TESTED: no sanitizers: {error}")
    chance = random.Random(7)
    whole = [wire.frame(wire.ACCEPTED), COMMITTED, wire.frame(wire.ANSWER, GOOD), *AFTER_COMMITTED.values()]
    codes = set()

    def garbage() -> bytes:
        data = bytearray(
            b"".join(chance.choices(whole, k=chance.randint(0, 3))) + chance.randbytes(chance.randint(0, 9))
        )
        for _ in range(chance.randint(0, 3)):
            if data:
                data[chance.randrange(len(data))] = chance.choice((0, 1, 2, 5, 65, 70, 82, 127, 128, 255))
        return bytes(data)

    sent = b""

    def converse(connection: socket.socket) -> None:
        read_header(connection)
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)

    with fake_server(served.socket(str(directory)), converse):
        for _ in range(at_length(25, 500)):
            sent = garbage()
            more = {"ASAN_OPTIONS": "exitcode=99:detect_leaks=0", "UBSAN_OPTIONS": "exitcode=99"}
            answer = served.run([str(program)], "PreAbilityCall", stdin=b"{}", **more)
            codes.add(answer.code)
            assert b"Sanitizer" not in answer.err, (sent, answer.err)
            assert b"runtime error" not in answer.err, (sent, answer.err)
            assert answer.code != 99
    assert codes >= {2, 3}  # the answer of COMMITTED, and the stub


@pytest.mark.slow
@pytest.mark.parametrize("target", ["aarch64-macos", "x86_64-macos"])
def test_client_compiles_for_other_machines(build: Mapping[str, Any], tmp_path: Path, target: str) -> None:
    (tmp_path / "passed.h").write_text(build["passed_header"](ROOT))
    compiler = (
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        target,
        "-Werror",
        "-c",
        "-o",
        str(tmp_path / "x.o"),
    )
    flags = (flag for flag in build["FLAGS"] if flag != "-s")  # there is nothing to strip before linking
    source = str(ROOT / "src/native/samuel_emit.c")
    words = (*flags, '-DSAMUEL_VERSION="1"', "-I", str(tmp_path), source)
    done = subprocess.run([*compiler, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
