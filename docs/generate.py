"""Writes the pages of the reference that the code knows best.

    python docs/generate.py            rewrite them, and print the difference
    python docs/generate.py --check    print the difference, and fail if there is one

Each page is a pure function of the catalogue, the commands or the records. What a type says of itself is shown;
what it does not say stands in a table beside it, and a name that is missing there is an error.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from pathlib import Path

from ability_pages import abilities_page
from agent_pages import agents_page
from api_pages import api_page
from cli_pages import cli_page
from client_pages import client_pages
from context_pages import context_page
from event_pages import events_page
from format_pages import formats_page
from journal_pages import journal_page
from knowledge_pages import knowledge_page
from plugin_pages import manifest_page, oci_page, wasm_page
from session_pages import sessions_page
from yaml_pages import yaml_hooks_page

REFERENCE = Path(__file__).parent / "reference"

PAGES: dict[str, Callable[[], str]] = {
    "events.md": events_page,
    "cli.md": cli_page,
    "context.md": context_page,
    "journal.md": journal_page,
    "task-formats.md": formats_page,
    "plugin-manifest.md": manifest_page,
    "wasm-abi.md": wasm_page,
    "oci-protocol.md": oci_page,
    "yaml-hooks.md": yaml_hooks_page,
    "sessions.md": sessions_page,
    "agents.md": agents_page,
    "abilities.md": abilities_page,
    "knowledge.md": knowledge_page,
    "python-api.md": api_page,
    **client_pages(),
}


def main(arguments: list[str]) -> int:
    stale = False
    for name, page in PAGES.items():
        file, text = REFERENCE / name, page()
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        if before != text:
            stale = True
            title = f"docs/reference/{name}"
            lines = (before.splitlines(), text.splitlines())
            print(*difflib.unified_diff(*lines, title, f"{title} (generated)", lineterm=""), sep="\n")
            if "--check" not in arguments:
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
    if stale and "--check" in arguments:
        print("\nif this is what the pages should say: `python docs/generate.py` writes them")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
