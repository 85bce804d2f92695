"""Modules that are built with a libc: they see the directories and variables they were granted, and no others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from samuel.hooks.capability import NOTHING, Capabilities
from samuel.hooks.handler import Outcome

from .wasm_build import LIMIT, Place, descriptors, files, hook, module, swapping

Do = Callable[..., Any]

WASI = "wasi_snapshot_preview1"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    place.loaded(files())
    (place.root / "docs").mkdir()
    (place.root / "docs/a").write_text("docs")
    (place.root / "src").mkdir()
    (place.root / "src/a").write_text("src")
    (tmp_path / "outside").write_text("outside")
    yield place
    place.runtime.close()
    assert (tmp_path / "outside").read_text() == "outside"


@pytest.fixture
def do(place: Place) -> Do:
    """Have the module do something with files; its answer, or the whole reply when there is none."""

    def do(op: str, a: str = "", b: str = "", *, grants: Capabilities = NOTHING, timeout: float = 10.0) -> Any:
        reply = place.runtime.call(place.handler("on_ask", grants), place.event(op=op, a=a, b=b), timeout)
        return reply.result if reply.outcome is Outcome.OK else reply

    return do


READ_DOCS = Capabilities(read=("docs",))
WRITE_DOCS = Capabilities(write=("docs",))


def test_a_granted_directory_is_there_under_its_own_name(place: Place, do: Do) -> None:
    assert do("read", "docs/a", grants=READ_DOCS)["text"] == "docs"
    assert do("read", "/docs/a", grants=READ_DOCS)["text"] == "docs"
    assert do("read", "src/a", grants=Capabilities(read=(".",)))["text"] == "src"
    assert do("write", "docs/b", "new", grants=WRITE_DOCS)["result"] == 3
    assert (place.root / "docs/b").read_text() == "new"
    both = Capabilities(read=("docs", "."), write=("docs/",))
    assert do("write", "docs/b", "newer", grants=both)["result"] == 5
    grants = Capabilities(write=("made/by/", "not/made"))
    assert do("write", "made/by/it", "new", grants=grants)["result"] == 3
    assert do("write", "not/made/it", "new", grants=grants)["result"] == -1
    assert (place.root / "made/by/it").read_text() == "new"
    assert not (place.root / "not").exists()


def test_nothing_else_is(place: Place, do: Do) -> None:
    for path in (
        "src/a",
        "./src/a",
        "docs/../src/a",
        "../outside",
        "docs/../../outside",
        str(place.root / "src/a"),
    ):
        for grants in (NOTHING, READ_DOCS, WRITE_DOCS):
            assert do("read", path, grants=grants)["result"] == -1, (path, grants)
            assert do("write", path, "hacked", grants=grants)["result"] == -1, (path, grants)
    assert do("read", "/etc/passwd", grants=Capabilities(read=(".",), write=(".",)))["result"] == -1
    assert (place.root / "src/a").read_text() == "src"


@pytest.mark.parametrize(
    ("op", "a", "b"),
    [
        *(("write", "docs/a", "hacked"), ("write", "docs/new", "hacked"), ("append", "docs/a", "hacked")),
        *(("unlink", "docs/a", ""), ("rename", "docs/a", "docs/b"), ("mkdir", "docs/new", "")),
        *(("link", "docs/a", "docs/b"), ("symlink", "a", "docs/b")),
        *(("rename", "docs/a", "rw/a"), ("rename", "rw/mine", "docs/a"), ("link", "docs/a", "rw/a")),
    ],
)
def test_what_is_granted_to_read_is_not_written(place: Place, do: Do, op: str, a: str, b: str) -> None:
    (place.root / "rw").mkdir()
    (place.root / "rw/mine").write_text("mine")
    assert do(op, a, b, grants=Capabilities(read=("docs",), write=("rw",)))["result"] == -1
    assert (place.root / "docs/a").read_text() == "docs"
    assert os.listdir(place.root / "docs") == ["a"]
    assert os.listdir(place.root / "rw") == ["mine"]


def test_links_lead_nowhere_outside(place: Place, do: Do, tmp_path: Path) -> None:
    (place.root / "docs/out").symlink_to(tmp_path / "outside")
    (place.root / "docs/up").symlink_to("../../outside")
    (place.root / "docs/dir").symlink_to("../src")
    for path in ("docs/out", "docs/up", "docs/dir/a"):
        assert do("read", path, grants=WRITE_DOCS)["result"] == -1
        assert do("write", path, "hacked", grants=WRITE_DOCS)["result"] == -1
    assert do("symlink", "../../outside", "docs/own", grants=WRITE_DOCS)["errno"] == 0
    assert do("write", "docs/own", "hacked", grants=WRITE_DOCS)["result"] == -1
    assert do("link", "../outside", "docs/hard", grants=WRITE_DOCS)["result"] == -1
    assert (place.root / "src/a").read_text() == "src"


def test_a_granted_directory_that_is_a_link_is_refused(place: Place, do: Do, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a").write_text("elsewhere")
    (place.root / "link").symlink_to(tmp_path / "elsewhere")
    for grants in (Capabilities(read=("link",)), Capabilities(write=("link",)), Capabilities(write=("link/",))):
        reply = do("write", "link/a", "hacked", grants=grants)
        assert reply.outcome is Outcome.REFUSED
        assert "symbolic link" in reply.message
    place.data.parent.mkdir(parents=True)
    place.data.symlink_to(tmp_path / "elsewhere")
    assert do("write", "/data/a", "hacked").outcome is Outcome.REFUSED
    assert (tmp_path / "elsewhere/a").read_text() == "elsewhere"


@pytest.mark.slow
def test_a_link_swapped_in_while_calls_run_leads_nowhere(place: Place, do: Do, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a").write_text("elsewhere")
    (place.root / "link").symlink_to(tmp_path / "elsewhere")
    texts = set()
    with swapping(place.root / "docs", place.root / "link"):
        for number in range(200):
            reply = do(("read", "write")[number % 2], "docs/a", "docs", grants=WRITE_DOCS)
            texts.add(reply["text"] if isinstance(reply, dict) else str(reply.outcome))
    assert {"docs"} <= texts <= {"docs", "", "refused"}
    assert (tmp_path / "elsewhere/a").read_text() == "elsewhere"
    assert os.listdir(tmp_path / "elsewhere") == ["a"]


def test_the_whole_project_is_written_but_for_what_decides_what_runs(place: Place, do: Do) -> None:
    for name in (".git/hooks", ".samuel/hooks", ".kodelet/hooks", ".system/hooks", ".system/rules"):
        (place.root / name).mkdir(parents=True)
    (place.root / "samuel.toml").write_text("")
    everything = Capabilities(write=(".",))
    assert do("write", "docs/a", "new", grants=everything)["result"] == 3
    assert do("write", ".system/rules/a", "new", grants=everything)["result"] == 3
    assert do("read", "samuel.toml", grants=everything)["result"] == 0
    for path in (
        *(".git/hooks/x", ".git/config", ".samuel/hooks/x", ".samuel/plugins/org@probe/plugin.wasm"),
        *(".kodelet/hooks/x", ".system/hooks/x", "samuel.toml", "samuel.lock", "docs/../samuel.toml"),
        *("docs/../.git/config", ".system/rules/../hooks/x"),
    ):
        assert do("write", path, "hacked", grants=everything)["result"] == -1, path
    assert do("rename", ".git", "docs/git", grants=everything)["result"] == -1
    assert do("rename", ".system/hooks", ".system/rules/x", grants=everything)["result"] == -1
    assert (place.root / "samuel.toml").read_text() == ""
    assert list((place.root / ".git/hooks").iterdir()) == []


def test_its_own_places(place: Place, do: Do) -> None:
    assert do("write", "/data/a", "kept")["result"] == 4
    assert (place.data / "a").read_text() == "kept"
    assert place.data.stat().st_mode & 0o777 == 0o700
    assert do("read", "/data/a")["text"] == "kept"
    (place.plugin / "rules").write_text("rules")
    assert do("read", "/plugin/rules")["text"] == "rules"
    assert do("write", "/plugin/rules", "hacked")["result"] == -1
    assert do("write", "/plugin/plugin.wasm", "hacked")["result"] == -1


def test_granted_variables_and_no_others(do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRANTED", "OTHER", "SAMUEL_TRUST"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("NO_TEXT", os.fsdecode(b"\xff"))
    assert do("env")["text"] == ""
    assert (
        do("env", grants=Capabilities(env=("GRANTED", "NOT_SET", "SAMUEL_TRUST", "NO_TEXT")))["text"]
        == "GRANTED=x;"
    )


def test_what_it_prints_is_the_calls_stderr(place: Place) -> None:
    reply = place.runtime.call(place.handler("on_ask"), place.event(op="print", a="hello", b=""), 10.0)
    assert reply.outcome is Outcome.OK
    assert reply.stderr == "to stdout: hello\nto stderr: hello\n"


def test_stdin_is_empty(do: Do) -> None:
    assert do("stdin")["result"] == 0


def test_a_module_that_calls_exit_has_crashed(do: Do) -> None:
    for code in ("0", "3"):
        reply = do("exit", code)
        assert reply.outcome is Outcome.CRASHED
        assert reply.message == f"it called exit({code}) instead of returning"


@pytest.mark.slow
def test_no_amount_of_printing_takes_more_than_its_time_or_its_room(do: Do, patiently: Any) -> None:
    reply = patiently(lambda seconds: do("flood", timeout=seconds), lambda reply: reply.stderr)
    assert reply.outcome is Outcome.TIMED_OUT
    assert 0 < len(reply.stderr) <= 64 * 1024


def test_sleep_ends_with_the_call(do: Do) -> None:
    assert do("sleep", "0")["result"] == 0
    reply = do("sleep", "3600", timeout=0.3)
    assert (reply.outcome, reply.message) == (Outcome.TIMED_OUT, "stopped after 0.3s")


def test_a_pipe_in_a_granted_directory_holds_nobody_up(place: Place, do: Do) -> None:
    pipe = place.root / "docs/pipe"
    os.mkfifo(pipe)
    reply = do("read", "docs/pipe", grants=READ_DOCS, timeout=0.3)
    assert reply.outcome is Outcome.TIMED_OUT
    assert do("read", "docs/a", grants=READ_DOCS)["text"] == "docs"
    os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))  # let it go


def test_no_descriptor_is_left_open(do: Do) -> None:
    grants = Capabilities(read=("src",), write=("docs", "new/"))
    do("read", "src/a", grants=grants)
    before = descriptors()
    for _ in range(5):
        do("read", "src/a", grants=grants)
    assert descriptors() <= before


POLL = (
    f'(import "{WASI}" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))'
    f'(import "{WASI}" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))'
)


@pytest.mark.parametrize(
    ("call", "errno"),
    [
        ("(call $poll (i32.const 64) (i32.const 512) (i32.const 0) (i32.const 1024))", 28),
        ("(call $poll (i32.const -8) (i32.const 512) (i32.const 1) (i32.const 1024))", 21),
        ("(call $poll (i32.const 64) (i32.const 512) (i32.const -1) (i32.const 1024))", 21),
        ("(call $poll (i32.const 64) (i32.const 512) (i32.const 1) (i32.const -4))", 21),
        ("(call $poll (i32.const 64) (i32.const 512) (i32.const 1) (i32.const 1024))", 0),
        ("(call $clock (i32.const 0) (i64.const 0) (i32.const -4))", 21),
        ("(call $clock (i32.const 9) (i64.const 0) (i32.const 64))", 28),
        ("(call $clock (i32.const 1) (i64.const 0) (i32.const 64))", 0),
    ],
)
def test_waiting_with_arguments_that_lie(place: Place, call: str, errno: int) -> None:
    data = module(hook(f"(if (i32.ne {call} (i32.const {errno})) (then unreachable)) (i64.const 0)"), imports=POLL)
    assert place.call(data).outcome is Outcome.OK


def test_waiting_until_a_moment_on_its_own_clock(place: Place) -> None:
    """Until now, which is at once; and then until tomorrow, which is too late."""
    ahead = 86_400 * 10**9
    data = module(
        hook(
            "(drop (call $clock (i32.const 1) (i64.const 0) (i32.const 88)))"  # 64 + 24: the timeout
            "(i32.store (i32.const 80) (i32.const 1))"  # which clock
            "(i32.store16 (i32.const 104) (i32.const 1))"  # absolute
            "(drop (call $poll (i32.const 64) (i32.const 512) (i32.const 1) (i32.const 1024)))"
            "(if (i32.ne (i32.load (i32.const 1024)) (i32.const 1)) (then unreachable))"
            f"(i64.store (i32.const 88) (i64.add (i64.load (i32.const 88)) (i64.const {ahead})))"
            "(drop (call $poll (i32.const 64) (i32.const 512) (i32.const 1) (i32.const 1024)))"
            "(i64.const 0)"
        ),
        imports=POLL,
    )
    place.loaded(data)
    assert place.call(timeout=0.5).outcome is Outcome.TIMED_OUT


def test_a_large_answer_is_too_much_here_as_well(place: Place) -> None:
    data = module(hook(f"(i64.const {LIMIT + 1})"), imports=POLL)
    assert place.call(data).outcome is Outcome.BAD_OUTPUT
