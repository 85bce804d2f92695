"""A project with one of the shipped hooks in it, agreed to; events go through the engine and a real worker."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent

import pytest

from samuel.shipped.table import SHIPPED_HOOKS
from samuel.testing import SamuelProject

Enable = Callable[..., None]


@pytest.fixture
def enable(samuel_project: SamuelProject) -> Enable:
    """`enable("policy_guard", config, more)`: YAML that names the hook, with what it is told below `config`."""

    def write(name: str, config: str = "", more: str = "") -> None:
        events = ", ".join(SHIPPED_HOOKS[name].events)
        head = f"id: {name}\nevent_type: [{events}]\nhandler: {{kind: builtin, name: {name}}}\n"
        config_lines = f"config:\n{indent(dedent(config), '  ')}\n" if config else ""
        file = samuel_project.root / ".system" / "hooks" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(head + dedent(more) + config_lines)
        samuel_project.trust()

    return write


@pytest.fixture
def put(samuel_project: SamuelProject) -> Callable[[dict[str, str]], None]:
    """Files below the project's root, by path; what begins with `#!` can be run."""

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            file = samuel_project.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text).lstrip("\n"))
            file.chmod(0o755 if file.read_text().startswith("#!") else 0o644)

    return write
