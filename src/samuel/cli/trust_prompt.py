"""Asking the user what to trust."""

from __future__ import annotations

from collections.abc import Sequence

import click

from samuel.base.printable import safe
from samuel.cli.output import Output
from samuel.setup.consent import Consent
from samuel.trust.items import TrustItem


def ask_for_each(out: Output, consent: Consent, items: Sequence[TrustItem]) -> list[TrustItem]:
    """Show each item and ask; returns those that the user trusts."""
    agreed: list[TrustItem] = []
    for position, item in enumerate(items):
        out.tell(consent.text(item))
        answer = click.prompt(
            safe(f"Trust `{item.name}`? y(es), n(o), a(ll that follow), q(uit)", keep=""),
            type=click.Choice(["y", "n", "a", "q"]),
            show_choices=False,
            default="n",
            err=True,
        )
        if answer == "a":
            return [*agreed, *items[position:]]
        if answer == "q":
            break
        if answer == "y":
            agreed.append(item)
    return agreed
