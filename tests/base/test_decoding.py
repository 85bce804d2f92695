"""Types are built before two threads can use them at once, and nothing in the package goes around that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from samuel.base.decoding import convert, decode_json, json_decoder, msgpack_decoder

ROOT = Path(__file__).parents[2]

# One thread builds `Outer`, slowly because of an annotation; meanwhile others use it, its parts, and what has it.
THREADS = """
import threading, time
import msgspec
from samuel.base import decoding

half_built = threading.Event()


def slow():
    half_built.set()
    time.sleep(0.3)  # long enough for the others to get there; too short for them, the test shows nothing
    return str


class Inner(msgspec.Struct):
    name: "slow()"


class Outer(msgspec.Struct):
    inner: Inner


class Wrapper(msgspec.Struct):
    outer: Outer


def read(value, kind):
    if kind is not FIRST:
        half_built.wait()
    made[kind] = (WAY)(value, kind)


outer = {"inner": {"name": "x"}}
FIRST = dict[str, Outer]
made = {}
uses = [({"key": outer}, FIRST), (outer, Outer), (outer["inner"], Inner), ({"outer": outer}, Wrapper)]
threads = [threading.Thread(target=read, args=use) for use in uses]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expected = Outer(Inner("x"))
assert made == {FIRST: {"key": expected}, Outer: expected, Inner: Inner("x"), Wrapper: Wrapper(expected)}, made
"""
SAFE = {
    "convert": "decoding.convert",
    "json": "lambda value, kind: decoding.decode_json(msgspec.json.encode(value), kind)",
    "json decoder": "lambda value, kind: decoding.json_decoder(kind)(msgspec.json.encode(value))",
    "msgpack decoder": "lambda value, kind: decoding.msgpack_decoder(kind)(msgspec.msgpack.encode(value))",
}


@pytest.mark.parametrize("way", SAFE)
def test_type_can_be_used_while_another_thread_builds_it(way: str) -> None:
    program = THREADS.replace("WAY", SAFE[way])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "msgspec.convert({}, dict)",
        'msgspec.json.decode(b"", type=int)',
        "msgspec.json.Decoder(int)",
        'msgspec.msgpack.decode(b"", type=int)',
        "msgspec.msgpack.Decoder(int)",
        'msgspec.toml.decode("", type=dict)',
        'msgspec.yaml.decode("", type=dict)',
    ],
)
def test_lint_refuses_to_give_msgspec_a_type_elsewhere_in_the_package(line: str) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--stdin-filename", "src/samuel/new.py", "-"]
    text = f"import msgspec\n\n{line}\n"
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)
    assert done.returncode == 1
    assert "TID251" in done.stdout


def test_values_come_out_as_msgspec_gives_them() -> None:
    assert convert([1, 2], tuple[int, ...]) == (1, 2)
    assert decode_json(b'{"a": 1}') == {"a": 1}
    assert decode_json(b"[1]", tuple[int, ...]) == (1,)
    assert json_decoder(list[int])(b"[1]") == [1]
    assert msgpack_decoder(list[int])(msgspec.msgpack.encode([1])) == [1]
    with pytest.raises(msgspec.ValidationError):
        convert("x", int)
