"""What the process that renders a template is asked, and what it answers."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.errors import Problem


class RenderRequest(msgspec.Struct):
    text: str
    name: str
    context: dict[str, Any] | None
    """None: only the names that the template expects are wanted."""
    memory: int
    """Bytes of address space."""
    seconds: int
    """CPU seconds, not wall time: a busy machine must not make a template fail."""


class Rendered(msgspec.Struct, omit_defaults=True):
    text: str = ""
    names: list[str] = []
    problems: list[Problem] = []
