from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from samuel.base.errors import ConfigError, Problem
from samuel.base.printable import shell_word
from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import fields_of
from samuel.cli.plugin.broken_parts import unusable
from samuel.plugins.contents import HOOKS, RECIPES, SKILLS, Contents, contents, escapes
from samuel.plugins.functions import missing
from samuel.plugins.manifest import load
from samuel.plugins.model import FILE, Manifest


@command()
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
def validate(here: CommandContext, directory: Path) -> int:
    """Check a plugin's files; nothing of it is run.

    \b
        samuel plugin validate ./my-plugin
    """
    manifest = Manifest()
    problems: list[Problem] = []
    try:
        manifest = load(directory)
    except ConfigError as error:
        problems += error.problems
    else:
        problems += missing(directory, manifest)
    problems += [*escapes(directory), *unusable(directory), *_forgotten(directory)]
    offered = contents(directory, manifest)
    if not any(offered) and not manifest.requires and not problems:
        what = f"it is not a plugin: it has no {FILE} with hooks, and nothing in {SKILLS}/, {RECIPES}/ or {HOOKS}/"
        problems.append(Problem(what, str(directory)))
    if problems:
        count = plural(len(problems), "problem")
        data = {"problems": [problem._asdict() for problem in problems]}
        return here.out.answer(data, "\n".join([*map(str, problems), "", count]), ok=False)
    return here.out.answer(_plain(manifest, offered), _words(directory, manifest, offered))


def _forgotten(directory: Path) -> Iterator[Problem]:
    """Files in hooks/ that were surely meant to be executable."""
    try:
        names = sorted(os.listdir(directory / HOOKS))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        file = directory / HOOKS / name
        if file.is_symlink() or not file.is_file() or name.startswith(".") or os.stat(file).st_mode & 0o111:
            continue
        with open(file, "rb") as opened:
            if opened.read(2) == b"#!":
                yield Problem(
                    "it begins with `#!`, but is not executable", str(file), 1, f"`chmod +x {shell_word(file)}`"
                )


def _plain(manifest: Manifest, offered: Contents) -> dict[str, Any]:
    return {
        **fields_of(manifest, "name", "version", "kind", "capabilities"),
        **offered._asdict(),
        "problems": [],
    }


def _words(directory: Path, manifest: Manifest, offered: Contents) -> str:
    title = f"{manifest.name} {manifest.version}" if manifest.file else directory.resolve().name
    lines = [f"{title} ({manifest.kind}) is valid"]
    lines += [f"  {part}: {', '.join(names)}" for part, names in offered._asdict().items() if names]
    if offered.hooks and not manifest.file:
        lines.append(
            "  hooks were not asked which events they are for: that would run them; `samuel plugin add` asks"
        )
    lines += [f"  may use {line}" for line in manifest.capabilities.lines()]
    return "\n".join(lines)
