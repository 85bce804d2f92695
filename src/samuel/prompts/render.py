"""Rendering prompt templates: Jinja2, sandboxed, and strict about names that do not exist.

`{{.Plugins.python.Venv}}` (Go's spelling) works as well as `{{ Plugins.python.Venv }}`.

A template runs without the user's consent, so it must not be able to do harm. A shipped one is rendered here, any
other in a process of its own with limits on memory, CPU time and output.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.files.inside import read_inside
from samuel.process import environment, spawn
from samuel.prompts.exchange import Rendered, RenderRequest

MOST = 1024 * 1024
"""Bytes of a template."""
MOST_RENDERED = 8 * 1024 * 1024
MEMORY = 512 * 1024 * 1024
SECONDS = 5
"""Of computing. A template that means well takes milliseconds."""
_PATIENCE = 120.0  # seconds of waiting, on a machine that is busy with something else

_START = "import sys; sys.path += sys.argv[1:]; from samuel.prompts.jinja import main; main()"
_TAGS = ("{{", "{%", "{#")
_HINT = "a loop in it does not end soon enough, or a value in it is too large"


def render(text: str, context: Mapping[str, Any], name: str = "template") -> str:
    """The text of a template with the context's names filled in, or a ConfigError that says which line."""
    if text in _shipped_texts():
        from samuel.prompts.jinja import fill  # Jinja2 takes longer to import than everything else in a command

        return fill(text, context, name)
    if not any(tag in text for tag in _TAGS):
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return _rendered(text, context, name).text


def used_names(text: str, name: str = "template") -> set[str]:
    """The names that a template expects to be given."""
    if not any(tag in text for tag in _TAGS):
        return set()
    return set(_rendered(text, None, name).names)


def shipped(name: str) -> str:
    """The text of a template that comes with Samuel."""
    return files("samuel.prompts").joinpath("templates", name).read_text(encoding="utf-8")


def load(name: str, own: Path) -> tuple[str, str]:
    """The project's own template if it has one, else the shipped one; with the name to use in messages."""
    file = own / name
    try:
        # Never through a link: what it leads to would be told to the agent.
        return read_inside(own.parents[1], own.parent.name, own.name, name, limit=MOST).decode(), str(file)
    except FileNotFoundError:
        return shipped(name), name
    except SamuelError as error:
        raise ConfigError([Problem(error.message, str(file), hint=error.hint)]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([Problem(f"not UTF-8: {error.reason}", str(file))]) from None


@cache
def _shipped_texts() -> frozenset[str]:
    directory = files("samuel.prompts").joinpath("templates")
    return frozenset(file.read_text(encoding="utf-8") for file in directory.iterdir() if file.name.endswith(".j2"))


def _rendered(text: str, context: Mapping[str, Any] | None, name: str) -> Rendered:
    """What the child says, or a ConfigError that names the template and what is wrong with it."""
    if len(text) > MOST:
        raise ConfigError([Problem(f"is longer than {MOST} characters", name)])
    request = RenderRequest(text, name, None if context is None else dict(context), MEMORY, SECONDS)
    finished = spawn.run(
        # Neither the user's site directory nor the project's modules; what Samuel itself was found by.
        [sys.executable, "-I", "-S", "-c", _START, *filter(os.path.isabs, sys.path)],
        cwd="/",
        env=environment.clean(),
        stdin=msgspec.json.encode(request, enc_hook=str),
        timeout=_PATIENCE,
        output_limit=MOST_RENDERED,
    )
    if finished.ended == "exited" and finished.returncode == 0:
        answer = decode_json(finished.stdout, Rendered)
        if answer.problems:
            raise ConfigError(answer.problems)
        return answer
    raise ConfigError([_ending(finished, name)])


def _ending(finished: spawn.Finished, name: str) -> Problem:
    if finished.ended == "too_much_output":
        return Problem(f"renders to more than {MOST_RENDERED} bytes", name, hint=_HINT)
    if finished.ended == "timed_out" or finished.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Problem(f"takes more than {SECONDS} seconds of computing to render", name, hint=_HINT)
    words = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    if words and words[-1].startswith("MemoryError"):
        return Problem(f"takes more than {MEMORY} bytes of memory to render", name, hint=_HINT)
    return Problem(f"cannot be rendered: {(words or [finished.why or finished.ended])[-1]}", name)
