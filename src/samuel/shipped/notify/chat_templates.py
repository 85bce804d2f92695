"""The requests that chat services take: the text of a message in the form that each expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from samuel.shipped.notify.notification import RunNotification
from samuel.shipped.notify.rules import Template

JSON = "application/json"
SUPPRESS_EMBEDS = 1 << 2  # Discord: no preview of a link


class WebhookRequest(NamedTuple):
    body: bytes
    content_type: str = JSON


def request(template: Template, message: RunNotification) -> WebhookRequest:
    """What to POST for a message; without a template its own JSON."""
    match template:
        case "ntfy":
            return WebhookRequest(message.text.encode("utf-8", "replace"), "text/plain; charset=utf-8")
        case "slack":
            # Escaped as Slack asks for: `<!channel>` in the text of an agent is text then.
            text = message.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            return _json({"text": text, "mrkdwn": False, "unfurl_links": False, "unfurl_media": False})
        case "discord":
            return _json({"content": message.text, "allowed_mentions": {"parse": []}, "flags": SUPPRESS_EMBEDS})
        case _:
            return WebhookRequest(msgspec.json.encode(message))


def _json(data: Mapping[str, Any]) -> WebhookRequest:
    return WebhookRequest(msgspec.json.encode(data))
