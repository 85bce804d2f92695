"""The process that renders a template: held to an amount of memory and of computing, and ended if it takes longer.

It reads a RenderRequest as JSON from stdin, and writes a Rendered to stdout.
"""

from __future__ import annotations

import resource
import sys
from contextlib import suppress

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError
from samuel.prompts.exchange import Rendered, RenderRequest
from samuel.prompts.jinja import fill, undeclared


def main() -> None:
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
