"""What of an ability came with the repository and runs: agreed to first, like every other executable text.

`ability:<id>` is how it is run. The script itself, or the file of its function, is agreed to as a file, with all
that lies beside it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from samuel.abilities.model import Ability, PythonImplementation, ScriptImplementation
from samuel.abilities.registry import Registry
from samuel.files.inside import is_inside
from samuel.files.modules import is_file, module_file
from samuel.trust.commands import CommandText
from samuel.trust.digests import digest_text
from samuel.trust.items import with_neighbours
from samuel.trust.permit import Permit


def texts(registry: Registry) -> list[CommandText]:
    return [text(one) for one in registry.abilities if one.implementation is not None]


def files(root: Path, registry: Registry) -> dict[str, Path]:
    """By name, below the root."""
    running = (file_of(one, root) for one in registry.abilities)
    return with_neighbours(root, [str(path) for path in running if path and is_inside(path, root)])


def text(ability: Ability) -> CommandText:
    content = "".join(f"{line}\n" for line in _lines(ability))
    return f"ability:{ability.id}", digest_text(content), content


def file_of(ability: Ability, root: Path) -> Path | None:
    """The file of the project that it runs, whether it is there or not; None for what comes from elsewhere."""
    how = ability.implementation
    if isinstance(how, ScriptImplementation):
        return root / how.path
    if not isinstance(how, PythonImplementation):
        return None
    module, _, _ = how.function.rpartition(":")
    file = module if is_file(module) else module_file(module, root)
    return root / file if file else None


def refusal(ability: Ability, root: Path, permit: Permit) -> str:
    """Why it may not run; "" if somebody agreed to it as it is."""
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
