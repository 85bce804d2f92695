"""Jinja2 as templates of prompts see it: sandboxed, strict about names that do not exist, without limits.

A template can still take forever or fill the memory, and nothing in this process could stop it. So only the
shipped templates are filled in directly; all others by `main`, in a process that is held to an amount of memory
and of computing, and that can be ended.
"""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Literal

import msgspec
from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem
from samuel.prompts.exchange import Rendered, RenderRequest

GO_NAME = re.compile(r"\{\{(-?)\s*\.(?=[A-Za-z_])")

_environment = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False
)
del _environment.globals["lipsum"]  # random text has no place in a prompt


def fill(text: str, context: Mapping[str, Any], name: str) -> str:
    """The text of a template with the context's names filled in, or a ConfigError that says which line."""
    with _explained(name, "render", "the names a template may use are listed in the reference"):
        return str(_compiled(text).render(context))


def undeclared(text: str, name: str) -> set[str]:
    """The names that a template expects to be given."""
    with _explained(name, "read"):
        return meta.find_undeclared_variables(_environment.parse(_go_names(text)))


@contextmanager
def _explained(name: str, verb: Literal["render", "read"], hint: str = "") -> Iterator[None]:
    """Raise what Jinja2 raises as a ConfigError with the line."""
    try:
        yield
    except TemplateSyntaxError as error:
        raise ConfigError([Problem(str(error.message), name, error.lineno)]) from None
    except TemplateError as error:
        raise ConfigError([Problem(str(error.message), name, _line(error), hint)]) from None
    except MemoryError as error:
        raise ConfigError([Problem(f"takes too much memory to {verb}", name, _line(error))]) from None
    except (SyntaxError, RecursionError, OverflowError, TypeError, ValueError, ZeroDivisionError) as error:
        what = "rendered" if verb == "render" else "read"
        raise ConfigError([Problem(f"cannot be {what}: {error}", name, _line(error))]) from None


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


def main() -> None:
    """Read a RenderRequest as JSON from stdin, and write a Rendered to stdout."""
    request = decode_json(sys.stdin.buffer.read(), RenderRequest)
    _limit(request)
    sys.stdout.buffer.write(msgspec.json.encode(_answer(request)))


def _answer(request: RenderRequest) -> Rendered:
    try:
        if request.context is None:
            return Rendered(names=sorted(undeclared(request.text, request.name)))
        return Rendered(text=fill(request.text, request.context, request.name))
    except ConfigError as error:
        return Rendered(problems=list(error.problems))


def _limit(request: RenderRequest) -> None:
    limits = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, request.seconds),
        (resource.RLIMIT_AS, request.memory),
    )
    for kind, most in limits:
        with suppress(OSError, ValueError):  # a tighter one is in force, or this system has none
            resource.setrlimit(kind, (most, most))
