"""What a module may import from `samuel`: it works when it is granted, and does not when it is not."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from samuel.confine.walls.walls import NONE, strength
from samuel.hooks.capability import NOTHING, Capabilities
from samuel.hooks.handler import Outcome

from .wasm_build import Place, behaviours, descriptors, hook, module, swapping

TEST_MARK = "SAMUEL_TEST_MARK"  # what the processes of a test are told by
NOT_FOUND, FAILED, TOO_LARGE, BAD_ARGUMENT = -2, -3, -4, -5
MIB = 1 << 20

Ask = Callable[..., Any]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path, output=64 * MIB)
    assert place.call(behaviours(), entry="empty").outcome is Outcome.OK
    yield place
    place.runtime.close()


@pytest.fixture
def ask(place: Place) -> Ask:
    """Have the module call a host function; {"code": ..., "text": ...} is what it got."""

    def ask(
        call: str,
        first: object,
        second: str = "",
        *,
        grants: Capabilities = NOTHING,
        config: dict[str, Any] | None = None,
        timeout: float = 10.0,
    ) -> Any:
        first_text = first if isinstance(first, str) else json.dumps(first)
        before = descriptors()
        reply = place.runtime.call(
            place.handler("ask", grants, config), place.event(call=call, first=first_text, second=second), timeout
        )
        if call != "net":  # the server is in this process too
            assert descriptors() <= before
        return reply

    return ask


def read(*paths: str) -> Capabilities:
    return Capabilities(read=paths)


def write(*paths: str) -> Capabilities:
    return Capabilities(write=paths)


# Files


def test_a_granted_file_is_read(place: Place, ask: Ask) -> None:
    (place.root / "docs").mkdir()
    (place.root / "docs/a.md").write_text("häa\n")
    for grants in (read("docs"), read("docs/"), read("."), read("docs/a.md"), write("docs")):
        reply = ask("fs_read", "docs/a.md", grants=grants)
        assert (reply.outcome, reply.result) == (Outcome.OK, {"code": 0, "text": "häa\n"})


def test_without_the_grant_it_is_denied_and_the_call_refused(place: Place, ask: Ask) -> None:
    (place.root / "docs").mkdir()
    (place.root / "docs/a.md").write_text("secret")
    for grants in (NOTHING, read("src"), read("docs/b.md"), read("doc"), Capabilities(exec=True)):
        reply = ask("fs_read", "docs/a.md", grants=grants)
        assert reply.outcome is Outcome.REFUSED
        assert reply.message == "it tried to read `docs/a.md`, and `filesystem.read` does not cover that"
        assert "secret" not in str(reply)


def test_the_guest_itself_hears_that_it_was_denied(place: Place) -> None:
    """It traps when it gets -1: the call is refused all the same, and says both."""
    data = module(
        hook(
            "(if (i64.eq (call $read (i32.const 64) (i32.const 1)) (i64.const -1)) (then unreachable))"
            "(i64.const 0)"
        )
        + '(data (i32.const 64) "x")',
        imports='(import "samuel" "fs_read" (func $read (param i32 i32) (result i64)))',
    )
    reply = place.call(data)
    assert reply.outcome is Outcome.REFUSED
    assert reply.message.startswith(
        "it tried to read `x`, and `filesystem.read` does not cover that; then wasm trap"
    )


def test_what_is_not_there_is_not_found(place: Place, ask: Ask) -> None:
    (place.root / "docs").mkdir()
    reply = ask("fs_read", "docs/a.md", grants=read("."))
    assert (reply.outcome, reply.result["code"]) == (Outcome.OK, NOT_FOUND)
    assert ask("fs_read", "docs", grants=read(".")).result["code"] == FAILED
    (place.root / "empty").touch()
    assert ask("fs_read", "empty", grants=read(".")).result == {"code": 0, "text": ""}


def test_a_file_that_is_too_large(place: Place, ask: Ask) -> None:
    (place.root / "large").write_bytes(b"x" * (8 * MIB))
    assert len(ask("fs_read", "large", grants=read(".")).result["text"]) == 8 * MIB
    (place.root / "large").write_bytes(b"x" * (8 * MIB + 1))
    assert ask("fs_read", "large", grants=read(".")).result["code"] == TOO_LARGE


def test_a_granted_file_is_written_whole(place: Place, ask: Ask) -> None:
    (place.root / "docs").mkdir()
    file = place.root / "docs/a.md"
    assert ask("fs_write", "docs/a.md", "new", grants=write("docs/")).result["code"] == 0
    assert file.read_text() == "new"
    file.chmod(0o755)
    assert ask("fs_write", "docs/a.md", "", grants=write("docs/a.md")).outcome is Outcome.OK
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("", 0o755)
    assert ask("fs_write", "docs/deep/er/b.md", "b", grants=write("docs")).outcome is Outcome.OK
    assert (place.root / "docs/deep/er/b.md").read_text() == "b"
    assert sorted(os.listdir(place.root / "docs")) == ["a.md", "deep"]  # and nothing else is left


def test_without_the_grant_nothing_is_written(place: Place, ask: Ask) -> None:
    (place.root / "src").mkdir()
    file = place.root / "src/a.c"
    file.write_text("old")
    for grants in (NOTHING, read("."), write("docs/"), write("src/a.cc"), Capabilities(exec=True)):
        reply = ask("fs_write", "src/a.c", "new", grants=grants)
        assert reply.outcome is Outcome.REFUSED
        assert reply.message == "it tried to write `src/a.c`, and `filesystem.write` does not cover that"
    assert file.read_text() == "old"


@pytest.mark.parametrize(
    "path",
    [
        *(".git/hooks/post-commit", ".git/config", "vendor/lib/.git/hooks/x", ".GIT/config", ".samuel/hooks/x"),
        *(".samuel/plugins/org@probe/plugin.wasm", ".samuel/run/plugins/other/x", ".kodelet/hooks/x"),
        *(".system/hooks/x.yaml", "samuel.toml", "samuel.lock", "Samuel.toml"),
    ],
)
def test_what_decides_what_runs_is_never_written(place: Place, ask: Ask, path: str) -> None:
    before = place.module.read_bytes()
    assert ask("fs_write", path, "x", grants=write(".")).outcome is Outcome.REFUSED
    assert not (place.root / path).exists() or place.module.read_bytes() == before


def test_its_own_places_need_no_grant(place: Place, ask: Ask) -> None:
    relative = str(place.data.relative_to(place.root))
    assert ask("fs_write", "/data/seen/a", "one").outcome is Outcome.OK
    assert (place.data / "seen/a").read_text() == "one"
    assert ask("fs_read", f"{relative}/seen/a").result["text"] == "one"
    assert ask("fs_write", f"{relative}/seen/a", "two").outcome is Outcome.OK
    assert ask("fs_read", "/data/seen/a").result["text"] == "two"
    (place.plugin / "rules.txt").write_text("rule")
    assert ask("fs_read", "/plugin/rules.txt").result["text"] == "rule"
    assert ask("fs_write", "/plugin/rules.txt", "x").outcome is Outcome.REFUSED
    assert (place.plugin / "rules.txt").read_text() == "rule"


@pytest.mark.parametrize(
    "path",
    [
        *("../outside", "docs/../../outside", "docs/../../place/../outside", "/etc/passwd", "//etc/passwd", ""),
        *(".", "docs/", "docs//a", "./docs/a", "/data/../../../../../outside", "/plugin/../../../../outside"),
        *("/data", "/dataset/x", "docs/a\0b", "~/outside"),
    ],
)
def test_no_path_leads_out(place: Place, ask: Ask, path: str) -> None:
    outside = place.root.parent / "outside"
    outside.write_text("outside")
    (place.root / "docs").mkdir()
    everything = Capabilities(read=(".",), write=(".",))
    for call in ("fs_read", "fs_write"):
        reply = ask(call, path, "hacked", grants=everything)
        assert reply.outcome is Outcome.REFUSED or reply.result["code"] < 0 or path == "~/outside"
    assert outside.read_text() == "outside"


def test_links_are_not_followed(place: Place, ask: Ask) -> None:
    outside = place.root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("outside")
    (place.root / "docs").mkdir()
    (place.root / "docs/file").symlink_to(outside / "file")
    (place.root / "docs/dangling").symlink_to(outside / "new")
    (place.root / "docs/directory").symlink_to(outside)
    for path in ("docs/file", "docs/dangling", "docs/directory/file", "docs/directory/new"):
        for call in ("fs_read", "fs_write"):
            reply = ask(call, path, "hacked", grants=write("docs"))
            assert reply.outcome is Outcome.REFUSED, (call, path)
            assert "outside" not in str(reply.result)
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "outside"


def test_a_data_dir_that_is_a_link_is_not_written_through(place: Place, ask: Ask) -> None:
    outside = place.root.parent / "outside"
    outside.mkdir()
    place.data.parent.mkdir(parents=True)
    place.data.symlink_to(outside)
    assert ask("fs_write", "/data/x", "hacked").outcome is Outcome.REFUSED
    assert list(outside.iterdir()) == []


@pytest.mark.slow
def test_a_link_swapped_in_while_calls_run_leads_nowhere(place: Place, ask: Ask) -> None:
    outside = place.root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("outside")
    docs = place.root / "docs"
    docs.mkdir()
    (docs / "file").write_text("inside")
    (place.root / "link").symlink_to(outside)
    with swapping(docs, place.root / "link"):
        outcomes = set()
        for number in range(300):
            call = ("fs_read", "fs_write")[number % 2]
            handler = place.handler("ask", write("docs"))
            reply = place.runtime.call(handler, place.event(call=call, first="docs/file", second="inside"), 10.0)
            outcomes.add((reply.outcome, reply.result.get("text", "")))
    assert (outside / "file").read_text() == "outside"
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert not any("outside" in text for _, text in outcomes)
    assert (Outcome.OK, "inside") in outcomes


def test_a_hard_link_is_not_written(place: Place, ask: Ask) -> None:
    outside = place.root.parent / "outside"
    outside.write_text("outside")
    os.link(outside, place.root / "inside")
    reply = ask("fs_write", "inside", "hacked", grants=write("."))
    assert reply.outcome is Outcome.REFUSED
    assert "hard link" in reply.message
    assert outside.read_text() == "outside"


def test_pipes_and_directories_are_neither_read_nor_written(place: Place, ask: Ask) -> None:
    os.mkfifo(place.root / "pipe")
    (place.root / "directory").mkdir()
    assert ask("fs_read", "pipe", grants=read(".")).outcome is Outcome.REFUSED
    assert ask("fs_write", "pipe", "x", grants=write(".")).outcome is Outcome.REFUSED
    assert ask("fs_write", "directory", "x", grants=write(".")).outcome is Outcome.REFUSED


# Programs


def test_a_granted_program_runs_and_its_output_comes_back(ask: Ask) -> None:
    request = {"argv": ["sh", "-c", "cat; echo $((20 + 3)) >&2; exit 7"], "stdin": "häa"}
    reply = ask("exec", request, grants=Capabilities(exec=True))
    assert reply.outcome is Outcome.OK, reply
    assert json.loads(reply.result["text"]) == {"exit_code": 7, "stdout": "häa", "stderr": "23\n"}


def test_without_the_grant_no_program_runs(place: Place, ask: Ask) -> None:
    target = place.root / "made"
    everything_else = Capabilities(read=(".",), write=(".",), network=("example.com",), env=("HOME",))
    reply = ask("exec", {"argv": ["touch", str(target)]}, grants=everything_else)
    assert reply.outcome is Outcome.REFUSED
    assert reply.message == "it tried to run `touch`, and `exec` is not granted"
    assert not target.exists()


@pytest.mark.skipif(strength().kind == NONE, reason="nothing on this machine confines a process")
def test_a_program_stays_within_the_grants_of_its_module(place: Place, ask: Ask) -> None:
    (place.root / "docs").mkdir()
    (place.root / "secret").write_text("secret")
    grants = Capabilities(exec=True, write=("docs",))
    script = "echo inside > docs/a; echo hacked > b; cat secret; cat docs/a"
    reply = ask("exec", {"argv": ["sh", "-c", script]}, grants=grants)
    assert json.loads(reply.result["text"])["stdout"] == "inside\n", reply
    assert (place.root / "docs/a").read_text() == "inside\n"
    assert not (place.root / "b").exists()


@pytest.mark.skipif(strength().kind == NONE, reason="nothing on this machine confines a process")
def test_a_program_has_no_network_although_the_module_has_hosts(ask: Ask, server: str) -> None:
    address, _, port = server.removeprefix("http://").partition(":")
    script = f"exec 3<>/dev/tcp/{address}/{port} && echo connected"
    grants = Capabilities(exec=True, network=(address,))
    reply = ask("exec", {"argv": ["bash", "-c", script]}, grants=grants)
    assert json.loads(reply.result["text"])["stdout"] == ""


def test_a_program_finds_granted_variables_and_no_others(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRANTED", "WITHHELD", "LD_PRELOAD_X", "SAMUEL_TRUST"):
        monkeypatch.setenv(name, f"value of {name}")
    grants = Capabilities(exec=True, env=("GRANTED", "SAMUEL_TRUST"))
    reply = ask("exec", {"argv": ["env"]}, grants=grants)
    stdout = json.loads(reply.result["text"])["stdout"]
    assert "GRANTED=value of GRANTED" in stdout
    assert stdout.count("value of") == 1


def test_a_program_ends_at_its_own_time_or_with_the_call(ask: Ask, marked: Any, patiently: Any) -> None:
    grants = Capabilities(exec=True, env=(TEST_MARK,))
    argv = ["sh", "-c", "echo $SAMUEL_TEST_MARK; setsid sleep 600 & sleep 600"]

    def attempt(seconds: float) -> Any:
        request = {"argv": argv, "timeout_ms": int(seconds * 1000)}
        return json.loads(ask("exec", request, grants=grants, timeout=300.0).result["text"])

    ended = patiently(attempt, lambda ended: ended["stdout"])
    assert (ended["stdout"], ended["timed_out"]) == (f"{marked.mark}\n", True)
    assert marked.strays() == []
    reply = ask("exec", {"argv": ["sleep", "60"]}, grants=grants, timeout=0.5)
    assert reply.outcome is Outcome.TIMED_OUT
    assert marked.strays() == []


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ("nonsense", BAD_ARGUMENT),
        ({"argv": []}, BAD_ARGUMENT),
        ({"argv": "ls"}, BAD_ARGUMENT),
        ({"argv": ["ls"], "shell": True}, BAD_ARGUMENT),
        ("[" * 100_000, BAD_ARGUMENT),
        ({"argv": ["no-such-program"]}, FAILED),
        ({"argv": ["sh", "-c", "a\0b"]}, FAILED),
        ({"argv": ["head", "-c", str(9 * MIB), "/dev/zero"]}, TOO_LARGE),
    ],
    ids=["no JSON", "empty", "string", "unknown key", "deep", "missing", "NUL", "flood"],
)
def test_requests_that_fail_give_a_reason(ask: Ask, request_: object, code: int) -> None:
    reply = ask("exec", request_, grants=Capabilities(exec=True))
    assert (reply.outcome, reply.result["code"]) == (Outcome.OK, code), reply
    assert reply.stderr.startswith("samuel: exec: ")  # its author can read why


# Network


class _Answers(BaseHTTPRequestHandler):
    requests: list[tuple[str, str, str, str]]

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.requests.append((self.command, self.path, self.headers.get("X-Token", ""), body))
        if self.path == "/hang":
            self.server.over.wait()  # type: ignore[attr-defined]
            return
        status, answer = {"/moved": (302, b""), "/large": (200, b"x" * (8 * MIB + 1))}.get(
            self.path, (200, f"{self.command} {body}".encode())
        )
        self.send_response(status)
        if self.path == "/moved":
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *arguments: object) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    """An HTTP server on loopback."""
    _Answers.requests = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as http:
        http.daemon_threads = True
        http.over = threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.over.set()  # type: ignore[attr-defined]
        http.shutdown()
        thread.join()


HOST = Capabilities(network=("127.0.0.1",))


def test_a_granted_host_is_reached(ask: Ask, server: str) -> None:
    request = {"url": f"{server}/a?b=c", "method": "POST", "headers": {"X-Token": "t"}, "body": "häa"}
    reply = ask("net", request, grants=HOST)
    assert reply.outcome is Outcome.OK, reply
    got = json.loads(reply.result["text"])
    assert (got["status"], got["body"], got["headers"]["content-length"]) == (200, "POST häa", "9")
    assert _Answers.requests == [("POST", "/a?b=c", "t", "häa")]
    with_port = Capabilities(network=(server.removeprefix("http://"),))
    assert json.loads(ask("net", {"url": server}, grants=with_port).result["text"])["body"] == "GET "


def test_no_other_host_is_reached(ask: Ask, server: str) -> None:
    elsewhere = Capabilities(
        exec=True, network=("localhost", "127.0.0.11", "127.0.0.1:1", "7.0.0.1", "example.com")
    )
    port = server.rpartition(":")[2]
    for grants in (NOTHING, elsewhere, Capabilities(network=())):
        reply = ask("net", {"url": server}, grants=grants)
        assert reply.outcome is Outcome.REFUSED
        assert reply.message == f"it tried to reach `127.0.0.1:{port}`, and `network` does not list that"
    assert _Answers.requests == []


@pytest.mark.parametrize(
    "request_",
    [
        {"url": "file:///etc/passwd"},
        {"url": "ftp://127.0.0.1/"},
        {"url": "http://"},
        {"url": "http://127.0.0.1:port/"},
        {"url": "http://[::1/"},
        {"url": "http://user:pass@127.0.0.1/"},
        {"url": "http://example.com@127.0.0.1/"},
        {"url": "http://127.0.0.1/ä"},
        {"url": "http://127.0.0.1/", "headers": {"host": "internal.example.com"}},
        {"url": "http://127.0.0.1/", "headers": {"Transfer-Encoding": "chunked"}},
        {"url": "http://127.0.0.1/", "unknown": 1},
        {"method": "GET"},
        "nonsense",
        "[" * 100_000,
    ],
)
def test_invalid_requests_are_bad_arguments(ask: Ask, request_: object) -> None:
    reply = ask("net", request_, grants=HOST)
    assert (reply.outcome, reply.result["code"]) == (Outcome.OK, BAD_ARGUMENT), reply


def test_a_request_cannot_smuggle_another(ask: Ask, server: str) -> None:
    for request in (
        {"url": server, "headers": {"X": "a\r\nHost: internal.example.com"}},
        {"url": server, "headers": {"X: a\r\nY": "b"}},
        {"url": server, "method": "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"},
        {"url": f"{server}/a b"},
    ):
        assert ask("net", request, grants=HOST).result["code"] == FAILED, request
    assert _Answers.requests == []


def test_redirects_are_for_the_module_to_follow(ask: Ask, server: str) -> None:
    got = json.loads(ask("net", {"url": f"{server}/moved"}, grants=HOST).result["text"])
    assert (got["status"], got["headers"]["location"]) == (302, "/elsewhere")
    assert [path for _, path, _, _ in _Answers.requests] == ["/moved"]


def test_a_proxy_in_the_environment_is_not_used(ask: Ask, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert ask("net", {"url": server}, grants=HOST).result["code"] == 0


def test_a_response_that_is_too_large_or_never_comes(ask: Ask, server: str) -> None:
    assert ask("net", {"url": f"{server}/large"}, grants=HOST).result["code"] == TOO_LARGE


def test_a_server_that_never_answers_takes_no_more_than_the_call(place: Place, server: str) -> None:
    payload = place.event(call="net", first=json.dumps({"url": f"{server}/hang"}), second="")
    assert place.runtime.call(place.handler("ask", HOST), payload, 0.5).outcome is Outcome.TIMED_OUT


def test_a_request_to_a_port_without_a_server_fails(ask: Ask) -> None:
    reply = ask("net", {"url": "http://127.0.0.1:1/"}, grants=HOST)
    assert (reply.outcome, reply.result["code"]) == (Outcome.OK, FAILED)
    assert "refused" in reply.stderr


# Settings, and arguments that lie


def test_a_module_reads_its_settings(ask: Ask) -> None:
    config = {"marks": ["a", {"b": None}], "": "odd"}
    assert json.loads(ask("config_get", "marks", config=config).result["text"]) == config["marks"]
    assert json.loads(ask("config_get", "", config=config).result["text"]) == config
    assert ask("config_get", "nonesuch", config=config).result["code"] == NOT_FOUND


FUNCTIONS = {
    "fs_read": ("(param i32 i32) (result i64)", "", "i64.ne", "i64.const -5"),
    "fs_write": ("(param i32 i32 i32 i32) (result i32)", "(i32.const 64) (i32.const 1)", "i32.ne", "i32.const -5"),
    "exec": ("(param i32 i32) (result i64)", "", "i64.ne", "i64.const -5"),
    "net": ("(param i32 i32) (result i64)", "", "i64.ne", "i64.const -5"),
    "config_get": ("(param i32 i32) (result i64)", "", "i64.ne", "i64.const -5"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "argument",
    ["(i32.const -8) (i32.const 4)", "(i32.const 64) (i32.const -1)", "(i32.const 131070) (i32.const 3)"],
)
def test_arguments_outside_of_memory(place: Place, name: str, argument: str) -> None:
    kind, more, differs, code = FUNCTIONS[name]
    data = module(
        hook(f"(if ({differs} (call $f {argument} {more}) ({code})) (then unreachable)) (i64.const 0)"),
        imports=f'(import "samuel" "{name}" (func $f {kind}))',
    )
    grants = Capabilities(read=(".",), write=(".",), exec=True, network=("127.0.0.1",))
    assert place.call(data, grants=grants).outcome is Outcome.OK


def test_a_path_that_is_not_utf_8_is_a_bad_argument(place: Place) -> None:
    data = module(
        hook(
            "(if (i64.ne (call $f (i32.const 64) (i32.const 2)) (i64.const -5)) (then unreachable)) (i64.const 0)"
        )
        + '(data (i32.const 64) "\\ff\\fe")',
        imports='(import "samuel" "fs_read" (func $f (param i32 i32) (result i64)))',
    )
    assert place.call(data, grants=read(".")).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("allocates", "code"),
    [
        ("(i32.const 0)", TOO_LARGE),
        ("(i32.const -8)", TOO_LARGE),
        ("unreachable", FAILED),
    ],
)
def test_a_module_that_has_no_room_for_the_answer(place: Place, allocates: str, code: int) -> None:
    """It hands out memory for the payload, and then no more."""
    (place.root / "file").write_text("x" * 100)
    data = module(
        hook(
            f"(if (i64.ne (call $f (i32.const 64) (i32.const 4)) (i64.const {code})) (then unreachable))"
            "(i64.const 0)"
        )
        + '(data (i32.const 64) "file")',
        allocates="(global $given (mut i32) (i32.const 0))"
        '(func (export "samuel_alloc") (param i32) (result i32)'
        f" (if (global.get $given) (then (return {allocates})))"
        " (global.set $given (i32.const 1)) (i32.const 4096))",
        imports='(import "samuel" "fs_read" (func $f (param i32 i32) (result i64)))',
    )
    assert place.call(data, grants=read(".")).outcome is Outcome.OK


def test_a_module_that_calls_back_from_where_the_answer_goes(place: Place) -> None:
    """samuel_alloc reads the file again, whose content goes through samuel_alloc, and so on."""
    (place.root / "file").write_text("x" * 100)
    data = module(
        hook(
            "(if (i64.lt_s (call $f (i32.const 64) (i32.const 4)) (i64.const 0)) (then unreachable)) (i64.const 0)"
        )
        + '(data (i32.const 64) "file")',
        allocates="(global $given (mut i32) (i32.const 0))"
        '(func (export "samuel_alloc") (param i32) (result i32)'
        " (if (global.get $given) (then"
        "   (if (i64.ne (call $f (i32.const 64) (i32.const 4)) (i64.const -3)) (then unreachable))))"
        " (global.set $given (i32.const 1)) (i32.const 4096))",
        imports='(import "samuel" "fs_read" (func $f (param i32 i32) (result i64)))',
    )
    reply = place.call(data, grants=read("."))
    assert reply.outcome is Outcome.OK, reply
    assert "cannot call host functions" in reply.stderr
