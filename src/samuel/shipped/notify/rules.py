"""The rules of `notify`: how to tell a person.

config:
  desktop: true                                   # notify-send or osascript, if there is one
  webhook: https://chat.example.com/hooks/night   # or $SAMUEL_WEBHOOK
  template: slack                                 # or ntfy, discord
  command: [./scripts/tell-me]
"""

from __future__ import annotations

from typing import Literal, cast, get_args
from urllib.parse import urlsplit

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.process.environment import referenced

VARIABLES = "SAMUEL_"  # a hook gets no other variables of the user's own

Template = Literal["", "ntfy", "slack", "discord"]
"""The service whose form the message has at a webhook; "" for the JSON of the message."""


class NotificationRules(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    desktop: bool = True
    webhook: str = ""
    template: Template = ""
    command: tuple[str, ...] = ()


def read(table: ConfigTable) -> NotificationRules:
    templates = [template for template in get_args(Template) if template]
    if "template" in table and "webhook" not in table:
        table.refuse("template", "`template` is the form of what a `webhook` gets", "add `webhook: ...`")
    return NotificationRules(
        desktop=table.take("desktop", kinds.flag, True),
        webhook=table.take("webhook", webhook, ""),
        template=cast(Template, table.take("template", kinds.one_of(*templates), "")),
        command=table.take("command", kinds.words, ()),
    )


def webhook(value: object) -> str:
    """A URL, or the name of the variable that holds it."""
    text = kinds.name(value)
    if variable := referenced(text):
        if not variable.startswith(VARIABLES):
            raise ValueError(f"must name a variable that begins with `{VARIABLES}`: others do not reach a hook")
    elif not is_web_address(text):
        raise ValueError("must be a URL that begins with http:// or https://")
    return text


def is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and text.isprintable() and " " not in text
        )
    except ValueError:
        return False
