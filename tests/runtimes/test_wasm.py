from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest
from wasmtime import wat2wasm

from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.runtimes.wasm import MISSING
from samuel.runtimes.wasm.machine import WasmRuntime

from .contract import LIMIT, RuntimeContract, event, setting
from .wasm_build import ALLOCATES, MIB, SAYS_NOTHING, SPEAKS_1, Place, behaviours, hook, module, saying


class TestContract(RuntimeContract):
    def build(self, root: Path) -> WasmRuntime:
        (root / "plugin.wasm").write_bytes(behaviours())
        return WasmRuntime(setting(root, root.parent / f"{root.name}-cache"))

    def other_content(self, content: bytes) -> bytes:
        return content + b"\0\2\1a"  # a custom section with the name `a`

    def handler(self, root: Path, behaviour: str) -> Handler:
        return Handler(
            name=behaviour,
            event="context.extra",
            origin=Origin.PROJECT_PLUGIN,
            runtime="wasm",
            path=str(root / "plugin.wasm"),
            entry=behaviour,
        )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.runtime.close()


# What is no module for us


IMPORT_NOBODY_HAS = '(import "env" "nonesuch" (func))'
WRONG_IMPORT = '(import "samuel" "log" (func (param i64)))'
COMPONENT = bytes(wat2wasm("(component)"))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is not a core WebAssembly module"),
        (b"(module)", "is not a core WebAssembly module"),
        (COMPONENT, "is not a core WebAssembly module"),
        (module()[:-7], "cannot be used"),
        (module()[:20] + b"\xff" * 40, "cannot be used"),
        (module(imports=IMPORT_NOBODY_HAS), "unknown import: `env::nonesuch`"),
        (module(imports=WRONG_IMPORT), "incompatible import type for `samuel::log`"),
        (module(memory=""), "does not export `memory`"),
        (module(allocates=""), "does not export `samuel_alloc`"),
        (module(speaks=""), "does not export `samuel_protocol_version`"),
        (module(""), "does not export `hook`; it exports `memory`, `samuel_alloc`, `samuel_protocol_version`"),
        (
            module('(func (export "hook") (param i32) (result i64) (i64.const 0))'),
            "exports `hook` as (i32) -> i64, and it must be (i32, i32) -> i64",
        ),
        (module('(func (export "hook"))'), "exports `hook` as () -> nothing"),
        (module('(global (export "hook") i32 (i32.const 0))'), "exports `hook` as something else"),
        (
            module(allocates='(func (export "samuel_alloc") (param i64) (result i64) (i64.const 8))'),
            "exports `samuel_alloc` as (i64) -> i64, and it must be (i32) -> i32",
        ),
        (
            module(speaks='(func (export "samuel_protocol_version") (result i32) (i32.const 2))'),
            "uses protocol 2, and this Samuel uses 1",
        ),
        (module(memory='(memory (export "memory") i64 1)'), "cannot be used"),
        (module(memory='(memory (export "memory") 1 2 shared)'), "cannot be used"),
        (module(memory='(memory (export "memory") 1) (memory 1)'), "cannot be used"),
        (
            module(memory='(memory (export "memory") 1025)'),
            f"{64 * MIB} bytes is the limit; `handler_memory_bytes`",
        ),
    ],
)
def test_why_a_module_is_not_started(place: Place, data: bytes, says: str) -> None:
    reply = place.call(data)
    assert reply.outcome is Outcome.NOT_STARTED, reply
    assert says in reply.message
    assert place.call(saying('{"x": 1}')).result == {"x": 1}  # and the next is as if nothing had been


def test_a_module_is_a_file_of_the_plugin(place: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.wasm"
    elsewhere.write_bytes(saying('{"x": 1}'))
    place.module.symlink_to(elsewhere)
    reply = place.call()
    assert (reply.outcome, "symbolic link" in reply.message) == (Outcome.NOT_STARTED, True)
    place.module.unlink()
    place.module.mkdir()
    assert place.call().outcome is Outcome.NOT_STARTED
    place.module.rmdir()
    os.mkfifo(place.module)
    assert place.call().outcome is Outcome.NOT_STARTED
    place.module.unlink()
    with place.module.open("wb") as file:
        file.truncate(33 * MIB)
    assert "larger than" in place.call().message


def test_a_module_that_changed_is_another_one(place: Place) -> None:
    assert place.call(saying('{"x": 1}')).result == {"x": 1}
    assert place.call(saying('{"x": 2}')).result == {"x": 2}


def test_without_wasmtime_it_says_what_to_install(tmp_path: Path) -> None:
    # Everything that is installed here, but for that one package.
    installed = tmp_path / "installed"
    installed.mkdir()
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not entry.name.startswith(("wasmtime", "__pycache__")) and entry.suffix != ".pth":
            (installed / entry.name).symlink_to(entry)
    script = """
        from pathlib import Path
        from samuel.events import ContextExtra
        from samuel.hooks.handler import Handler, Origin
        from samuel.runtimes.base import Setting
        from samuel.runtimes.table import Runtimes
        handler = Handler(name="x", event="", origin=Origin.PROJECT_PLUGIN, runtime="wasm", path="/x", entry="x")
        reply = Runtimes(Setting(Path("/"), {}, Path("/")))["wasm"].call(handler, ContextExtra(task={}), 5.0)
        print(reply.outcome, reply.message)
    """
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", dedent(script)],
        env={"PYTHONPATH": f"{source}{os.pathsep}{installed}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"not_started {MISSING}\n"


# What a module does when it is called

LOOP = "(loop $again (br $again))"
GROWS = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (module(hook("unreachable")), "`unreachable` instruction executed"),
        (module(hook("(i64.div_u (i64.const 1) (i64.const 0))")), "divide by zero"),
        (module(hook("(i64.load (i32.const -8))")), "out of bounds memory access"),
        (module(f"(func $deep (call $deep)) {hook('(call $deep) (i64.const 0)')}"), "call stack exhausted"),
        (module(f"(func $start unreachable) (start $start) {SAYS_NOTHING}"), "`unreachable` instruction"),
        (module(f'(func (export "_initialize") unreachable) {SAYS_NOTHING}'), "`unreachable` instruction"),
        (
            module(allocates='(func (export "samuel_alloc") (param i32) (result i32) unreachable)'),
            "`unreachable` instruction",
        ),
        (
            module(allocates='(func (export "samuel_alloc") (param i32) (result i32) (i32.const 0))'),
            "`samuel_alloc` has no",
        ),
        (
            module(allocates='(func (export "samuel_alloc") (param i32) (result i32) (i32.const -16))'),
            "`samuel_alloc` has no",
        ),
        (module(hook(f"{GROWS} unreachable")), f"{64 * MIB} bytes is the limit; `handler_memory_bytes`"),
        (
            module(
                "(table $all 1 funcref)"
                + hook(
                    "(if (i32.eq (table.grow $all (ref.null func) (i32.const 100000000)) (i32.const -1))"
                    " (then unreachable)) (i64.const 0)"
                )
            ),
            "`unreachable` instruction",
        ),
    ],
    ids=[
        *("unreachable", "division", "address", "recursion", "start", "initialize"),
        *("alloc traps", "alloc has none", "alloc lies", "memory bomb", "table bomb"),
    ],
)
def test_a_trap_is_a_crash_with_its_reason(place: Place, data: bytes, says: str) -> None:
    reply = place.call(data)
    assert reply.outcome is Outcome.CRASHED, reply
    assert says in reply.message
    assert reply.result == {}
    assert place.call(saying('{"x": 1}')).result == {"x": 1}


@pytest.mark.parametrize(
    "data",
    [
        module(hook(f"{LOOP} (i64.const 0)")),
        module(hook(f"{GROWS} {LOOP} (i64.const 0)")),
        module(f"(func $start {LOOP}) (start $start) {SAYS_NOTHING}"),
        module(f'(func (export "_initialize") {LOOP}) {SAYS_NOTHING}'),
        module(allocates=f'(func (export "samuel_alloc") (param i32) (result i32) {LOOP} (i32.const 8))'),
        module(speaks=f'(func (export "samuel_protocol_version") (result i32) {LOOP} (i32.const 1))'),
    ],
    ids=["hook", "after a memory bomb", "start", "initialize", "alloc", "version"],
)
def test_what_never_ends_is_ended(place: Place, data: bytes) -> None:
    place.loaded(data)
    reply = place.call(timeout=0.2)
    assert (reply.outcome, reply.message) == (Outcome.TIMED_OUT, "stopped after 0.2s")
    assert place.call(saying('{"x": 1}')).result == {"x": 1}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (module(hook(f"(i64.const {0x7FFF0000 << 32 | 10})")), "outside of its memory"),
        (module(hook(f"(i64.const {(131072 - 4) << 32 | 5})")), "outside of its memory"),
        (module(hook("(i64.const -1)")), "handler_output_bytes"),
        (module(hook(f"(i64.const {LIMIT + 1})")), f"more than {LIMIT} bytes"),
        (saying("[1]"), "a result is an object with keys, not a list"),
        (saying("nonsense"), "not JSON"),
        (
            module(f'(data (i32.const 64) "{{\\"x\\": \\"\\ff\\"}}") {hook(f"(i64.const {64 << 32 | 10})")}'),
            "UTF-8",
        ),
        (saying("[" * 2_000 + "]" * 2_000), "nested too deeply"),
    ],
    ids=["far away", "over the end", "minus one", "too much", "list", "no JSON", "no UTF-8", "deep"],
)
def test_what_is_no_answer_is_bad_output(place: Place, data: bytes, says: str) -> None:
    reply = place.call(data)
    assert reply.outcome is Outcome.BAD_OUTPUT, reply
    assert says in reply.message
    assert reply.result == {}


def test_every_call_has_an_instance_of_its_own(place: Place) -> None:
    """It counts its calls in a global and writes the number into its answer."""
    counts = module(
        '(global $calls (mut i32) (i32.const 0)) (data (i32.const 64) "{\\"calls\\":0}")'
        + hook(
            "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))"
            "(i32.store8 (i32.const 73) (i32.add (i32.const 48) (global.get $calls)))"
            f"(i64.const {64 << 32 | 11})"
        )
    )
    assert [place.call(counts).result, place.call().result, place.call().result] == [{"calls": 1}] * 3


def test_reactors_are_initialized_first(place: Place) -> None:
    data = module(
        '(data (i32.const 64) "{\\"x\\":1}")'
        '(func (export "_initialize") (i32.store8 (i32.const 69) (i32.const 50)))'
        + hook(f"(i64.const {64 << 32 | 7})")
    )
    assert place.call(data).result == {"x": 2}


def test_the_last_64_kib_of_what_it_logs_are_kept(place: Place) -> None:
    logs = module(
        hook(
            "(local $left i32) (local.set $left (i32.const 100)) (loop $again"
            " (call $log (i32.const 1) (i32.const 0) (i32.const 4000))"
            " (local.set $left (i32.sub (local.get $left) (i32.const 1))) (br_if $again (local.get $left)))"
            " (call $log (i32.const 3) (i32.const 64) (i32.const 3)) (i64.const 0)"
        )
        + '(data (i32.const 64) "end")',
        imports='(import "samuel" "log" (func $log (param i32 i32 i32)))',
    )
    reply = place.call(logs)
    assert reply.outcome is Outcome.OK
    assert len(reply.stderr) == 64 * 1024
    assert reply.stderr.endswith("\nerror: end\n")


def test_bytes_that_are_not_text_can_be_logged(place: Place) -> None:
    logs = module(
        hook("(call $log (i32.const 99) (i32.const 64) (i32.const 2)) (i64.const 0)")
        + '(data (i32.const 64) "\\ff\\ff")',
        imports='(import "samuel" "log" (func $log (param i32 i32 i32)))',
    )
    reply = place.call(logs)
    assert (reply.outcome, reply.stderr) == (Outcome.OK, "error: ��\n")


def test_calls_at_the_same_time_do_not_mix(place: Place) -> None:
    """Some answer, some trap and some never end, all on one engine."""
    place.loaded(behaviours())
    kinds = [("echo", 10.0), ("crash", 10.0), ("hang", 0.3), ("chatter", 10.0)] * 8

    def call(number: int) -> tuple[str, str]:
        entry, timeout = kinds[number]
        payload = event(task={"id": str(number), "text": ""})
        reply = place.runtime.call(place.handler(entry), payload, timeout)
        return str(reply.outcome), json.dumps(reply.result) + reply.stderr.partition("\n")[0]

    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(call, range(len(kinds))))
    for number, (outcome, message) in enumerate(got):
        expected = {
            "echo": ("ok", {"deadline_ms": 5000, "event": "context.extra", "id": str(number), "size": 0}, ""),
            "crash": ("crashed", {}, "error: the reason"),
            "hang": ("timed_out", {}, ""),
            "chatter": ("ok", {"x": 1}, "info: chatter"),
        }[kinds[number][0]]
        assert (outcome, message) == (expected[0], json.dumps(expected[1]) + expected[2])


def test_a_runtime_goes_on_after_it_was_closed(place: Place) -> None:
    """An App is closed once, but a handler under way must not fall over for it."""
    assert place.call(saying('{"x": 1}')).result == {"x": 1}
    place.runtime.close()
    assert place.call().result == {"x": 1}


def test_the_text_of_a_module_is_not_compiled(place: Place) -> None:
    """wasmtime would take it; what people agreed to is a file that every tool reads the same way."""
    text = f'(module {ALLOCATES} {SPEAKS_1} (memory (export "memory") 1) {SAYS_NOTHING})'
    assert place.call(text.encode()).outcome is Outcome.NOT_STARTED
