"""The options that choose issues of a forge."""

from __future__ import annotations

from typing import Any

import click

from samuel.base.errors import UsageError
from samuel.cli.command_context import options
from samuel.forge.forge import IssueQuery
from samuel.forge.table import FORGES

issue_options = options(
    click.option("--label", "labels", multiple=True, metavar="NAME", help="Issues with this label; repeatable."),
    click.option("--milestone", default="", metavar="TITLE", help="Issues of this milestone."),
    click.option("--search", default="", metavar="QUERY", help="Issues that this search of the forge finds."),
    click.option(
        "--issue",
        "numbers",
        multiple=True,
        type=click.IntRange(1, 2**53),
        metavar="N",
        help="The issue with this number; repeatable.",
    ),
)
_NAMES = {"labels": "--label", "milestone": "--milestone", "search": "--search", "numbers": "--issue"}


def issue_query(source: str, options: dict[str, Any], *, format_name: str, tag: str) -> IssueQuery | None:
    """The issues that are meant, by options that are taken out of `options`; None if the source is no forge."""
    query = IssueQuery(**{name: options.pop(name) for name in _NAMES})
    options_used = [option for name, option in _NAMES.items() if getattr(query, name)]
    if source not in FORGES:
        if options_used:
            names = ", ".join(f"`--from {name}`" for name in FORGES)
            raise UsageError(
                f"`{options_used[0]}` chooses issues of a forge, and `{source}` is none", f"with it: {names}"
            )
        return None
    if format_name or tag:
        option = "--format" if format_name else "--tag"
        hint = f"leave it out, or name a file: `./{source}`"
        raise UsageError(f"`{option}` is for files, and `{source}` is a forge", hint)
    if not options_used:
        raise UsageError(f"`--from {source}` needs the issues that are meant", "for example `--label ready`")
    if query.numbers and len(options_used) > 1:
        raise UsageError(
            f"`--issue` names the issues, so that `{options_used[0]}` cannot choose any", "leave one out"
        )
    return query
