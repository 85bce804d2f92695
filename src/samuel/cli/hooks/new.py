from __future__ import annotations

import os
from pathlib import Path

import click

from samuel import config, paths
from samuel.cli.consent import Consent
from samuel.cli.here import Here, inside_a_run, json_option
from samuel.errors import SamuelError
from samuel.events import event_type
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, refuse_links
from samuel.hooks.handler import Status
from samuel.scaffold.hook import LANGUAGES, Written, hook, taken

HOOKS = paths.HOOK_DIRS[0]


@click.command()
@click.argument("name")
@click.option("--event", required=True, metavar="EVENT", help="The event it is for.")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="bash", show_default=True)
@json_option
@click.pass_obj
def new(here: Here, name: str, event: str, lang: str) -> int:
    """Write a hook that works, to start from.

    \b
        samuel hooks new notify --event after:iteration --lang python
    """
    kind = event_type(event)
    written = hook(name, kind, lang)
    root = here.root
    config.load(root / paths.CONFIG)  # what is wrong with it is said before anything is written
    _write(root, name, written)
    shown = f"{HOOKS}/{written.name}"
    warnings = _trust(Consent(root), shown, written)
    with here.open() as app:  # it is asked which event it is for, now rather than at the first event
        for one in app.found:
            if one.path == str(root / shown) and one.status is Status.BROKEN:
                warnings.append(f"`{one.name}` is broken: {one.reason}")

    really = " --really" if kind.irreversible else ""
    tries = [
        f"samuel hooks fire {kind.name}{really}",
        f"samuel hooks explain {kind.name}",
        f"samuel hooks log --event {kind.name}",
    ]
    data = {"path": shown, "event": kind.name, "lang": lang, "next": tries}
    text = "\n".join([f"wrote {shown} for {kind.name}", "", "Try:", *(f"  {line}" for line in tries)])
    return here.out.answer(data, text, warnings=[*warnings, *app.warnings])


def _write(root: Path, name: str, written: Written) -> None:
    refuse_links(root, paths.HOME, *paths.HOOK_DIRS)
    directory = make_dirs_inside(root, HOOKS, mode=0o755)
    try:
        if other := taken(name, os.listdir(directory)):
            raise SamuelError(f"`{HOOKS}/{other}` exists already", "choose another name, or remove it first")
        atomic.write_at(directory, written.name, written.text.encode(), written.mode)
    finally:
        os.close(directory)


def _trust(consent: Consent, shown: str, written: Written) -> list[str]:
    """Agree to the new file as it was written, and to nothing else; gives what is in its way."""
    if inside_a_run():
        return [f"`{shown}` is not trusted: a run cannot change what is trusted"]
    items = consent.items()
    consent.agree(item for item in items if (item.name, item.content) == (shown, written.text.encode()))
    others = [item.name for item in consent.pending() if os.path.dirname(item.name).startswith(HOOKS)]
    if not others:
        return []
    names = ", ".join(f"`{other}`" for other in others)
    return [f"`{shown}` will not run before you agree to what lies beside it: {names}; `samuel trust` asks"]
