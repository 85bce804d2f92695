"""The parts of an ability that the user must trust before it runs.

`ability:<id>` is its command, function or prompt. Its script, or the file of its function, is trusted as a file,
with everything in its directory.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from samuel.files.command_files import is_file, module_file
from samuel.files.inside import is_inside
from samuel.routing.abilities.model import Ability, PythonImplementation, ScriptImplementation
from samuel.routing.abilities.registry import Registry
from samuel.trust.commands import CommandText
from samuel.trust.digests import digest_text, with_neighbours
from samuel.trust.permit import Permit


def texts(registry: Registry) -> list[CommandText]:
    return [text(ability) for ability in registry.abilities if ability.implementation is not None]


def files(root: Path, registry: Registry) -> dict[str, Path]:
    """The scripts and files of functions, by their path below the root."""
    running = (file_of(ability, root) for ability in registry.abilities)
    return with_neighbours(root, [str(path) for path in running if path and is_inside(path, root)])


def text(ability: Ability) -> CommandText:
    content = "".join(f"{line}\n" for line in _lines(ability))
    return f"ability:{ability.id}", digest_text(content), content


def file_of(ability: Ability, root: Path) -> Path | None:
    """The project's file that it runs, existing or not; None for agents and installed modules."""
    how = ability.implementation
    if isinstance(how, ScriptImplementation):
        return root / how.path
    if not isinstance(how, PythonImplementation):
        return None
    module, _, _ = how.function.rpartition(":")
    file = module if is_file(module) else module_file(module, root)
    return root / file if file else None


def refusal(ability: Ability, root: Path, permit: Permit) -> str:
    """Why it may not run; "" if it is trusted as it is."""
    path = file_of(ability, root)
    if path is not None and not is_inside(path, root):
        return f"`{path}` leads out of the project"
    name, digest, _ = text(ability)
    return permit.text(name, digest) or (permit.file(str(path)) if path is not None and path.is_file() else "")


def _lines(ability: Ability) -> Iterator[str]:
    how = ability.implementation
    if how is None:
        return
    if isinstance(how, ScriptImplementation):
        yield f"script: {shlex.join((how.path, *how.arguments))}"
    elif isinstance(how, PythonImplementation):
        yield f"python: {how.function}"
    else:
        yield "agent:"
        yield from (f"    {line}" for line in how.prompt.split("\n"))
    if how.timeout is not None:
        yield f"timeout: {how.timeout:g}s"
    for name, value in sorted(how.env.items()):
        yield f"env: {name}={value!r}"
