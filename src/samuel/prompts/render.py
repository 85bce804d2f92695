"""Rendering prompt templates: Jinja2, sandboxed, and strict about names that do not exist.

`{{.Plugins.python.Venv}}` (Go's spelling) works as well as `{{ Plugins.python.Venv }}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from samuel.errors import ConfigError, Problem, SamuelError
from samuel.files.inside import read_inside

GO_NAME = re.compile(r"\{\{(-?)\s*\.(?=[A-Za-z_])")
MOST = 1024 * 1024

_environment = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False
)


def render(text: str, context: Mapping[str, Any], name: str = "template", **more: Any) -> str:
    """The text of a template with the context's names filled in, or a ConfigError that says which line."""
    try:
        return str(_compiled(text).render(**context, **more))
    except TemplateSyntaxError as error:
        raise ConfigError([Problem(str(error.message), name, error.lineno)]) from None
    except TemplateError as error:
        hint = "the names a template may use are listed in the reference"
        raise ConfigError([Problem(str(error.message), name, _line(error), hint)]) from None
    except (RecursionError, OverflowError, MemoryError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ConfigError([Problem(f"cannot be rendered: {error}", name, _line(error))]) from None


def used_names(text: str, name: str = "template") -> set[str]:
    """The names that a template expects to be given."""
    try:
        return meta.find_undeclared_variables(_environment.parse(_go_names(text)))
    except TemplateSyntaxError as error:
        raise ConfigError([Problem(str(error.message), name, error.lineno)]) from None
    except RecursionError as error:
        raise ConfigError([Problem(f"cannot be read: {error}", name)]) from None


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


@lru_cache(maxsize=32)
def _compiled(text: str) -> Any:
    return _environment.from_string(_go_names(text))


def _go_names(text: str) -> str:
    return GO_NAME.sub(r"{{\1 ", text)


def _line(error: BaseException) -> int:
    """The template's line, from the innermost frame that runs template code."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
