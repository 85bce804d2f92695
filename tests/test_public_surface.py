"""What other people's code may rely on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import samuel


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_public_names_of_samuel_are_these() -> None:
    assert samuel.__all__ == [
        "App",
        "ConfigError",
        "Fired",
        "HandlerCall",
        "Machine",
        "Outcome",
        "Overrides",
        "SamuelError",
        "UnknownEvent",
        "UsageError",
        "__version__",
        "events",
        "hook",
        "open",
        "shell",
    ]


@pytest.mark.parametrize("name", samuel.__all__)
def test_each_can_be_imported_on_its_own(name: str) -> None:
    assert run(f"from samuel import {name}; print({name} is not None)") == "True"


def test_all_public_names_can_be_imported_together() -> None:
    assert run("from samuel import *; print(open.__name__, hook.__name__, events.__name__)") == (
        "App hook samuel.events"
    )


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        samuel.nonesuch  # noqa: B018


def test_every_event_has_its_payload_in_samuel_events() -> None:
    for event in samuel.events.EVENTS:
        assert getattr(samuel.events, event.payload.__name__) is event.payload


@pytest.mark.parametrize("name", samuel.events.__all__)
def test_the_names_of_samuel_events(name: str) -> None:
    assert getattr(samuel.events, name) is not None


def test_the_names_of_samuel_shell_are_these_and_the_parser_is_loaded_only_to_read() -> None:
    assert samuel.shell.__all__ == ["Opaque", "OpaqueKind", "Reading", "Redirect", "ShellCommand", "commands"]
    code = "import samuel, sys; {}; print('tree_sitter' in sys.modules)"
    assert run(code.format("samuel.shell.commands")) == "False"
    assert run(code.format("samuel.shell.commands('ls')")) == "True"


def test_a_hook_file_that_imports_samuel_pays_for_nothing_else() -> None:
    loaded = run("import samuel, sys; samuel.hook('x'); print(*sorted(sys.modules))").split()
    heavy = {
        "msgspec",
        "click",
        "jinja2",
        "rich",
        "tomlkit",
        "toons",
        "asyncio",
        "subprocess",
        "logging",
        "inspect",
    }
    assert not heavy & set(loaded)


def test_the_pytest_plugin_pays_for_pytest_alone() -> None:
    loaded = run(
        "import pytest, sys; before = set(sys.modules); import samuel.testing; print(*(set(sys.modules) - before))"
    ).split()
    assert {name.partition(".")[0] for name in loaded} <= {"samuel", "textwrap"}
    assert not {name for name in loaded if name.startswith(("samuel.app", "samuel.events", "samuel.dispatch"))}


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert samuel.__version__ == version("samuel-loop")


def test_the_names_of_samuel_testing() -> None:
    import samuel.testing

    assert set(samuel.testing.__all__) == {"FakeClock", "Recorder", "SamuelProject", "fire", "samuel_project"}
    for name in samuel.testing.__all__:
        assert getattr(samuel.testing, name).__doc__


@pytest.mark.parametrize("name", [b"nowhere", b"file", b"not-utf8-\xff"])
def test_only_a_directory_that_json_can_name_can_be_opened(tmp_path: Path, name: bytes) -> None:
    (tmp_path / "file").touch()
    (tmp_path / os.fsdecode(b"not-utf8-\xff")).mkdir()
    with pytest.raises(samuel.UsageError):
        samuel.open(tmp_path / os.fsdecode(name), search=False)
