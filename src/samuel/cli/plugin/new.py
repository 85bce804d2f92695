from __future__ import annotations

from pathlib import Path

import click

from samuel.base.printable import shell_word
from samuel.cli.command_context import CommandContext, command
from samuel.plugins.model import SKILL
from samuel.scaffold.plugin import NEW_KINDS, directory_name, plugin, write


@command()
@click.argument("name")
@click.option("--kind", type=click.Choice(NEW_KINDS), default=SKILL, show_default=True)
@click.option(
    *("--dir", "parent"),
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    metavar="DIR",
    help="The directory in which to create it.",
)
def new(here: CommandContext, name: str, kind: str, parent: Path) -> int:
    """Write a new plugin with a test, from a working template.

    \b
        samuel plugin new my-checks --kind python
    """
    files = plugin(name, kind)
    directory = parent / directory_name(name)
    write(directory, files)
    path_text = str(directory)
    word = shell_word(path_text)
    test = f"pytest {word}"
    tries = [f"samuel plugin validate {word}", test, f"samuel plugin add {shell_word(_as_path(path_text))}"]
    push = [
        f"cd {word} && git init && git add . && git commit -m 'First version'",
        "git remote add origin URL && git push -u origin HEAD",
        "samuel plugin add URL",
    ]
    paths = [f"{path_text}/{file.path}" for file in files]
    data = {"path": path_text, "name": name, "kind": kind, "files": paths, "next": [*tries, *push]}
    try_lines = [f"{line}  # in Samuel's environment" if line == test else line for line in tries]
    lines = [*(f"wrote {path}" for path in paths), "", "Try:", *(f"  {line}" for line in try_lines)]
    return here.out.answer(data, "\n".join([*lines, "", "Share:", *(f"  {line}" for line in push)]))


def _as_path(text: str) -> str:
    """`plugin add` takes a plain word for org/repo."""
    return text if text.startswith(("/", ".")) else f"./{text}"
