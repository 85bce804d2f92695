from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from samuel import config
from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext, command
from samuel.events import event_type
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, refuse_links
from samuel.hooks.handler import HandlerStatus
from samuel.process.inside_a_run import inside_a_run
from samuel.scaffold.hook import LANGUAGES, WrittenHook, hook, taken
from samuel.scaffold.yaml_hook import REGISTER, yaml_hook
from samuel.setup.consent import Consent

HOOKS = paths.HOOK_DIRS[0]


@command()
@click.argument("name")
@click.option("--event", required=True, metavar="EVENT", help="The event that the hook handles.")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="bash", show_default=True)
@click.option("--yaml", "as_yaml", is_flag=True, help="Write a YAML hook in .system/hooks/ and its script.")
def new(here: CommandContext, name: str, event: str, lang: str, as_yaml: bool) -> int:
    """Write a new hook from a working template.

    \b
        samuel hooks new notify --event after:iteration --lang python
        samuel hooks new slow_calls --event PostAbilityCall --yaml
    """
    kind = event_type(event)
    root = here.root
    own_file = hook(name, kind, lang)
    files = yaml_hook(name, kind, lang) if as_yaml else [own_file._replace(name=f"{HOOKS}/{own_file.name}")]
    config.load(root / paths.CONFIG)  # a wrong samuel.toml is reported before anything is written
    new_files = _write(root, name, files)
    warnings = _trust(Consent(root), new_files)
    with here.open() as app:  # the hook is asked for its events now rather than at the first event
        first_file = files[0].name
        for handler in app.handlers:
            if (
                first_file in (handler.file, os.path.relpath(handler.path or "/", root))
                and handler.status is HandlerStatus.BROKEN
            ):
                warnings.append(f"`{handler.name}` is broken: {handler.reason}")

    really = " --really" if kind.irreversible else ""
    tries = [
        f"samuel hooks fire {kind.name}{really}",
        f"samuel hooks explain {kind.name}",
        f"samuel hooks log --event {kind.name}",
    ]
    data = {"path": first_file, "event": kind.name, "lang": lang, "next": tries}
    names = [file.name for file in new_files]
    if as_yaml:
        data["written"] = names
    wrote = f"wrote {', '.join(map(here.path_of, names))} for {kind.name}"
    text = "\n".join([wrote, "", "Try:", *(f"  {line}" for line in tries)])
    return here.out.answer(data, text, warnings=[*warnings, *app.warnings])


def _write(root: Path, name: str, files: Sequence[WrittenHook]) -> list[WrittenHook]:
    """Write all files or none; returns those that were written. An existing registration script stays."""
    refuse_links(root, paths.HOME, *paths.HOOK_DIRS, paths.SYSTEM, paths.YAML_HOOKS)
    files = [file for file in files if file.name != REGISTER or not os.path.lexists(root / REGISTER)]
    for file in files:
        directory, base = os.path.split(file.name)
        there = os.listdir(root / directory) if (root / directory).is_dir() else []
        if other := taken(name, there) if directory == HOOKS else base if base in there else "":
            raise SamuelError(f"`{directory}/{other}` exists already", "choose another name, or remove it first")
    with ExitStack() as opened:
        places = []
        for file in files:  # all of the directories before the first of the files
            fd = make_dirs_inside(root, os.path.dirname(file.name), mode=0o755)
            opened.callback(os.close, fd)
            places.append(fd)
        for file, fd in zip(files, places, strict=True):
            atomic.write_at(fd, os.path.basename(file.name), file.text.encode(), file.mode)
    return files


def _trust(consent: Consent, new_files: Sequence[WrittenHook]) -> list[str]:
    """Trust the new files as they were written; returns warnings about what keeps them from running."""
    first_file = new_files[0].name
    if inside_a_run():
        return [f"`{first_file}` is not trusted: a run cannot change what is trusted"]
    consent.agree_to({file.name: file.text.encode() for file in new_files})
    # A YAML file does not run, so other files in its directory do not matter to it.
    places = tuple({os.path.dirname(file.name) for file in new_files} - {paths.YAML_HOOKS})
    others = [item.name for item in consent.pending() if os.path.dirname(item.name).startswith(places)]
    if not others:
        return []
    names = ", ".join(f"`{other}`" for other in others)
    return [f"`{first_file}` will not run before you trust what lies beside it: {names}; `samuel trust` asks"]
