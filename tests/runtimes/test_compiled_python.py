"""A hook that was changed runs as it is now, also if size and time of its files are those of before."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from samuel.hooks.handler import Handler, Origin
from samuel.process.compiled_python import keep_uncompiled
from samuel.process.environment import clean
from samuel.process.spawn import run
from samuel.routing.abilities.execution.perform import AgentOutput, Performer, ProgramSettings
from samuel.routing.abilities.model import Ability, Level, PythonImplementation, ScriptImplementation
from samuel.runtimes.exec import ExecRuntime
from samuel.runtimes.python import PythonRuntime

from .contract import LIMIT, event, setting

FUNCTION = 'import samuel\n\n@samuel.hook("context.extra")\ndef answer(event):\n    return {"word": "one"}\n'
CALLS_HELPER = FUNCTION.replace('"one"', "helper.WORD").replace("import samuel", "import helper, samuel")
STARTS_PYTHON = FUNCTION.replace("import samuel", "import samuel, subprocess, sys").replace(
    '"one"', 'subprocess.check_output([sys.executable, f"{__file__[:-3]}_child.py"], text=True).strip()'
)
HELPER, CHILD = 'WORD = "one"\n', "import helper\nprint(helper.WORD)\n"
SCRIPT = f"#!{sys.executable}\nimport json, helper\nprint(json.dumps({{'word': helper.WORD}}))\n"
SHELL = f'#!/bin/sh\nprintf \'{{"word": "%s"}}\' "$({sys.executable} "$(dirname "$0")/child.py")"\n'

HOOKS: dict[str, tuple[str, dict[str, str]]] = {
    "function": ("hook.py", {"hook.py": FUNCTION}),
    "helper of a function": ("hook.py", {"hook.py": CALLS_HELPER, "helper.py": HELPER}),
    "program of a function": (
        "hook.py",
        {"hook.py": STARTS_PYTHON, "hook_child.py": CHILD, "helper.py": HELPER},
    ),
    "helper of a script": ("hook", {"hook": SCRIPT, "helper.py": HELPER}),
    "program of a script": ("hook", {"hook": SHELL, "child.py": CHILD, "helper.py": HELPER}),
}


def _handler(file: Path, runs: tuple[str, ...] = ()) -> Handler:
    is_module = file.suffix == ".py"
    return Handler(
        name="hook",
        event="context.extra",
        origin=Origin.PROJECT,
        runtime="python" if is_module else "exec",
        path="/bin/sh" if runs else str(file),
        entry="answer" if is_module else "",
        arguments=runs,
        runs=runs,
        file="hook.yaml" if runs else "",
    )


def _result(root: Path, cache: Path, handler: Handler) -> Mapping[str, Any]:
    """The answer of a new process of Samuel."""
    variables = clean({"PYTHONPYCACHEPREFIX": str(cache / "pycache")})
    runtime: ExecRuntime | PythonRuntime
    if handler.runtime == "python":
        runtime = PythonRuntime(setting(root, cache, variables))
    else:
        runtime = ExecRuntime(setting(root, cache, variables))
    try:
        reply = runtime.call(handler, event(), 30.0)
    finally:
        runtime.close()
    assert reply.result, reply
    return reply.result


def _write(directory: Path, files: Mapping[str, str], word: str) -> None:
    directory.mkdir(exist_ok=True)
    for name, text in files.items():
        file = directory / name
        file.write_text(text.replace('"one"', f'"{word}"'))
        file.chmod(0o644 if file.suffix else 0o755)
        os.utime(file, (1_700_000_000, 1_700_000_000))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "files"), HOOKS.values(), ids=HOOKS)
def test_hook_of_the_same_size_and_time_runs_as_it_is_now(
    tmp_path: Path, compiled_python: Path, name: str, files: dict[str, str]
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/pycache").symlink_to(compiled_python)
    for word in ("one", "two"):
        _write(tmp_path / "hooks", files, word)
        for _ in range(2):
            assert _result(tmp_path, tmp_path / "cache", _handler(tmp_path / "hooks" / name)) == {"word": word}


@pytest.mark.slow
def test_script_of_a_yaml_hook_of_the_same_size_and_time_runs_as_it_is_now(
    tmp_path: Path, compiled_python: Path
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/pycache").symlink_to(compiled_python)
    handler = _handler(tmp_path / "tools/check", runs=(str(tmp_path / "tools/check"),))
    for word in ("one", "two"):
        _write(tmp_path / "tools", {"check": SHELL, "child.py": CHILD, "helper.py": HELPER}, word)
        assert _result(tmp_path, tmp_path / "cache", handler) == {"word": word}


@pytest.mark.slow
def test_ability_of_the_same_size_and_time_runs_as_it_is_now(tmp_path: Path, compiled_python: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/pycache").symlink_to(compiled_python)
    variables = clean({"PYTHONPYCACHEPREFIX": str(tmp_path / "cache/pycache")})
    settings = ProgramSettings(tmp_path, variables, {}, tmp_path / "cache", LIMIT)
    function = "import helper\n\ndef answer(value):\n    return {'word': helper.WORD}\n"
    files = {"script": SCRIPT, "shell": SHELL, "child.py": CHILD, "function.py": function, "helper.py": HELPER}
    scripts = [ScriptImplementation(f"tools/{name}") for name in ("script", "shell")]
    perform = Performer(settings, lambda *_: AgentOutput("none"))
    for word in ("one", "two"):
        _write(tmp_path / "tools", files, word)
        for how in (*scripts, PythonImplementation("tools/function.py:answer")):
            ability = Ability(id="a", level=Level.LOW, summary="", file="", implementation=how)
            result = perform(ability, {}, {}, "")
            assert result.output == {"word": word}, result


@pytest.mark.slow
def test_script_in_the_root_leaves_the_rest_of_the_project_to_python(
    tmp_path: Path, compiled_python: Path
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/pycache").symlink_to(compiled_python)
    _write(tmp_path, {"hook.py": STARTS_PYTHON, "hook": SHELL}, "one")
    _write(tmp_path, {"hook_child.py": CHILD, "child.py": CHILD, "helper.py": HELPER}, "one")
    for name in ("hook", "hook.py"):
        assert _result(tmp_path, tmp_path / "cache", _handler(tmp_path / name)) == {"word": "one"}
    assert list((tmp_path / "cache/pycache").glob(f"{str(tmp_path)[1:]}/helper.*.pyc"))


@pytest.mark.slow
def test_script_and_function_share_what_was_compiled(tmp_path: Path, compiled_python: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/pycache").symlink_to(compiled_python)
    _write(tmp_path / "hooks", {"hook.py": CALLS_HELPER, "hook": SCRIPT, "helper.py": HELPER}, "one")
    states = set()
    for name in ("hook", "hook.py", "hook"):
        _result(tmp_path, tmp_path / "cache", _handler(tmp_path / "hooks" / name))
        (compiled,) = (tmp_path / "cache/pycache").glob(f"exact{tmp_path}/hooks/helper.*.pyc")
        states.add((compiled.stat().st_ino, compiled.stat().st_mtime_ns))
    assert len(states) == 1


def test_python_keeps_nothing_compiled_from_a_directory_that_is_kept_uncompiled(tmp_path: Path) -> None:
    _write(tmp_path / "hooks", {"child.py": CHILD, "helper.py": HELPER}, "one")
    (tmp_path / "link").symlink_to("hooks")
    pycache = tmp_path / "cache"
    child = [sys.executable, "-S", str(tmp_path / "link/child.py")]
    variables = clean({"PYTHONPYCACHEPREFIX": str(pycache)})
    assert run(child, cwd="/", env=variables).stdout == b"one\n"
    assert list(pycache.rglob("helper*"))
    keep_uncompiled(str(tmp_path / "link"), str(pycache))
    assert run(child, cwd="/", env=variables).stdout == b"one\n"
    assert not list(pycache.rglob("helper*"))
