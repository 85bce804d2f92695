from __future__ import annotations

import os
from collections.abc import Sequence

import click

from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.printable import safe
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.hooks.handler import HandlerStatus
from samuel.process.inside_a_run import refuse_inside_a_run
from samuel.setup.consent import PENDING, Consent, readable
from samuel.sources.hook_files import unmarked_files
from samuel.trust.items import TrustItem


@command()
@click.argument("names", nargs=-1, metavar="[PATH]...")
@click.option("--list", "listing", is_flag=True, help="List everything that could run, with its state.")
@click.option("--show", "showing", is_flag=True, help="Show the contents, or what changed.")
@click.option("--revoke", "revoking", is_flag=True, help="Revoke trust.")
@click.option("--yes", is_flag=True, help="Trust without asking; for CI.")
def trust(
    here: CommandContext, names: tuple[str, ...], listing: bool, showing: bool, revoking: bool, yes: bool
) -> int:
    """Review and trust what a repository wants to run.

    Shows what is new or has changed, and asks. You trust exactly the content that you saw: if one byte changes, it
    does not run until you trust it again.

    \b
        samuel trust
        samuel trust --list
    """
    if listing + showing + revoking > 1:
        raise UsageError("`--list`, `--show` and `--revoke` exclude each other", "choose one")
    consent = Consent(here.root)
    chosen = _chosen(here, names, consent.items())
    if listing:
        return _list(here, chosen)
    if showing:
        texts = [consent.text(item) for item in chosen]
        data = [{**_plain(item), "text": text} for item, text in zip(chosen, texts, strict=True)]
        return here.out.answer(data, *(texts or [NOTHING]))
    refuse_inside_a_run()
    if revoking:
        return _revoke(here, consent, [item.name for item in chosen] if names else None, yes)
    return _agree(here, consent, [item for item in chosen if item.state in PENDING], yes)


def _list(here: CommandContext, items: Sequence[TrustItem]) -> int:
    rows = [(item.state, item.name, item.digest[:16], item.agreed_at or "-") for item in items]
    table = OutputTable(("state", "what", "sha256", "agreed"), rows) if rows else NOTHING
    return here.out.answer([_plain(item) for item in items], table)


def _revoke(here: CommandContext, consent: Consent, names: Sequence[str] | None, yes: bool) -> int:
    if names is None and not yes:
        if not here.out.asks:
            raise UsageError("this would revoke all trust in this project", "name what you mean, or add `--yes`")
        click.confirm("Revoke all trust in this project?", abort=True, err=True)
    gone = consent.revoke(names)
    lines = [f"no longer trusted: {safe(name, keep='')}" for name in gone] or ["nothing was trusted"]
    return here.out.answer({"revoked": gone}, "\n".join(lines))


def _agree(here: CommandContext, consent: Consent, pending: Sequence[TrustItem], yes: bool) -> int:
    unreadable = [
        f"`{_name(item)}` cannot be read, so it cannot be trusted" for item in pending if not readable(item)
    ]
    readable_items = [item for item in pending if readable(item)]
    if not pending:
        return here.out.answer(
            {"agreed": [], "pending": []}, "nothing is new or changed: there is nothing to trust"
        )
    if not yes and not here.out.asks:
        raise SamuelError(
            "\n".join(["not trusted yet:", *(f"  {item.state}  {_name(item)}" for item in pending)]),
            "`samuel trust --show` shows it, `samuel trust --yes` agrees to all of it",
        )
    agreed = readable_items if yes else here.ask_for_trust(consent, readable_items)
    if agreed:
        consent.agree(agreed)
    left = [item for item in pending if item not in agreed]
    lines = [_agreed(item) for item in agreed]
    lines += [f"not trusted: {_name(item)}" for item in left]
    data = {"agreed": [_plain(item) for item in agreed], "pending": [_plain(item) for item in left]}
    warnings = [*unreadable, *(_not_running(here) if agreed else [])]
    return here.out.answer(data, "\n".join(lines), ok=not left, warnings=warnings)


def _not_running(here: CommandContext) -> list[str]:
    """Warnings about hooks that will not run: trusted now, they can be asked for their events."""
    with here.open() as app:
        broken = [
            f"`{handler.name}` is broken: {handler.reason}"
            for handler in app.handlers
            if handler.status is HandlerStatus.BROKEN
        ]
        return [*broken, *unmarked_files(app.paths.root, app.user.home)]


def _chosen(here: CommandContext, names: Sequence[str], items: Sequence[TrustItem]) -> Sequence[TrustItem]:
    """The items with these names or paths; all items without names."""
    if not names:
        return items
    by_name = {item.name: item for item in items}
    chosen = []
    for name in names:
        path = os.path.relpath(os.path.abspath(here.directory / name), here.root)
        item = by_name.get(name) or by_name.get(path)
        if item is None:
            hint = did_you_mean(name, by_name, "`samuel trust --list` lists them")
            raise UsageError(f"`{name}` is not a hook, plugin or command of this project", hint)
        chosen.append(item)
    return chosen


def _name(item: TrustItem) -> str:
    """The name on one line: a file's name must not look like a second line of output."""
    return safe(item.name, keep="")


def _plain(item: TrustItem) -> dict[str, str]:
    return {"name": item.name, "state": item.state, "digest": item.digest, "agreed_at": item.agreed_at}


NOTHING = "there is nothing in this project that needs trust"


def _agreed(item: TrustItem) -> str:
    if item.state == "gone":
        return f"confirmed as removed: {_name(item)}"
    return f"trusted: {_name(item)}  sha256 {item.digest[:16]}"
