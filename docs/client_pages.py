"""A page for each agent that `samuel bridge` connects: its files, its events, its trust, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from page import NOTE, table

from samuel.clients.dialect.events import DENIABLE
from samuel.clients.entries.hook_command import DEADLINE as DEADLINE_SECONDS
from samuel.clients.entries.hook_command import ON_PATH, TIMEOUT, hook_command
from samuel.clients.entries.hook_trust import Level
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.layout import EntryFile
from samuel.clients.table import CLIENTS, LAYOUTS
from samuel.events.names import SESSION

HOME = Path("~")
LEVELS: dict[Level, str] = {"project": "the project's, to commit", "user": "yours, for all projects"}
KINDS = {
    "event": "the event itself",
    "deny": "a denial",
    "ask": "`ask`",
    "rewrite": "a rewritten input",
    "output": "a rewritten output",
    "follow_up": "a request to go on",
    "context": "messages and suggestions",
}

MISSING = """\
On events that can be denied, the hook denies when `samuel` is missing, fails or is killed, and says what to do. On
other events it does nothing in that case.
"""
DEADLINE = """
{title} waits {seconds} seconds for the hook. A `samuel` that hangs is ended before that, and the call is denied.
"""
DEADLINES = {
    "opencode": f"\nThe plugin waits {TIMEOUT} seconds for `samuel`, then ends it and denies the call.\n",
    "cline": "\nHow long Cline waits is not set by the hook. "
    f"A `samuel` that hangs is ended after {DEADLINE_SECONDS} seconds, and the call is denied.\n",
}


def client_pages() -> dict[str, Callable[[], str]]:
    """The pages by their names below docs/reference/."""
    return {f"agents/{client}.md": partial(client_page, client) for client in LAYOUTS}


def client_page(name: str) -> str:
    client = CLIENTS[name]
    source = (
        f"This page follows the documentation of {client.title}; Samuel was not run with it."
        if client.documented
        else f"The hooks were run with {client.title} itself against a model on the same machine."
    )
    parts = [
        f"# {client.title}\n\n{NOTE}\n"
        f"What `samuel bridge add {name}` connects, and what {client.title} does with the results of your hooks. "
        f"{source}\n",
        f"## Where its hooks are\n\n{_files(name)}",
        f"## Trust\n\n{_trust(name)}",
        f"## Events\n\n{_events(name)}",
        f"## What it cannot do\n\n{_limits(name)}",
        f"## When Samuel is missing\n\n{_missing(name)}",
    ]
    return "\n".join(parts)


def _files(name: str) -> str:
    layout = LAYOUTS[name]
    home = str(layout.home({}, HOME))
    rows = (
        [(f"`{_path_text(layout.project, '')}`", LEVELS["project"], f"`samuel bridge add {name}`")]
        if layout.project
        else []
    )
    rows.append((f"`{_path_text(layout.user, f'{home}/')}`", LEVELS["user"], f"`samuel bridge add --user {name}`"))
    text = table(("file", "whose", "command"), rows)
    if not layout.project:
        text += f"\n{CLIENTS[name].title} reads no hooks from a project.\n"
    file_format = layout.user[0].format
    if isinstance(file_format, JsonHooks):
        comments = "" if file_format.comments else "comments or "
        mark = "" if file_format.byte_order_mark else ", or if it starts with a byte order mark"
        text += f"\n{CLIENTS[name].title} does not read the file if it has {comments}trailing commas{mark}.\n"
    return text


def _path_text(files: tuple[EntryFile, ...], base: str) -> str:
    path = files[0].path if len(files) == 1 else f"{files[0].path.rpartition('/')[0]}/EVENT"
    return base + path


def _trust(name: str) -> str:
    whose = {"project": "For the project's file", "user": "For your own file"}
    steps = LAYOUTS[name].trust.steps
    lines = [f"- {whose[level]}: {steps[level]}.\n" for level in LEVELS if level in steps]
    return "".join(lines) or f"{CLIENTS[name].title} asks for nothing: it runs the hooks that it finds.\n"


def _events(name: str) -> str:
    client = CLIENTS[name]
    rows = []
    for event in CLIENTS[name].registered_events:
        ours = client.events[event]
        anchor = ours.lower()
        rows.append((f"`{event}`", f"[`{ours}`](../events.md#{anchor})", "yes" if ours in DENIABLE else "no"))
    text = table((f"event of {client.title}", "event of Samuel", "can be denied"), rows)
    never_fired = [f"`{event}`" for event in SESSION if event not in client.events.values()]
    return text + (
        f"\n{client.title} does not report {', '.join(never_fired)} to Samuel.\n" if never_fired else ""
    )


def _limits(name: str) -> str:
    limits = CLIENTS[name].limits
    rows = [
        (f"`{event}`", words, limits[event, kind].verdict, limits[event, kind].why)
        for event in SESSION
        for kind, words in KINDS.items()
        if (event, kind) in limits
    ]
    if not rows:
        return "Samuel knows of no limits.\n"
    return "Everything that is not in this table is honoured.\n\n" + table(
        ("event", "what", "verdict", "why"), rows
    )


def _missing(name: str) -> str:
    deadline = DEADLINE.format(title=CLIENTS[name].title, seconds=TIMEOUT)
    text = MISSING + DEADLINES.get(name, deadline)
    file_format = LAYOUTS[name].user[0].format
    if isinstance(file_format, JsonHooks):
        event = next(event for event, ours in CLIENTS[name].events.items() if ours == "PreAbilityCall")
        command = hook_command(ON_PATH, name, event)
        text += f"\nThe command of `{event}` in a project:\n\n```sh\n{command}\n```\n"
    return text
