"""Qwen Code. Run with 0.24.4. It has Claude Code's events and Gemini CLI's tools."""

from __future__ import annotations

from samuel.clients.claude import dialect as claude
from samuel.clients.dialect.answers import as_json, claude_fields
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import COMMON, text
from samuel.clients.dialect.tools import tool_table
from samuel.clients.gemini import dialect as gemini

CLIENT = Client(
    name="qwen",
    title="Qwen Code",
    events=claude.FAMILY_EVENTS,
    tools=tool_table(
        shell={"run_shell_command": "command", "monitor": "command"},  # the second in the background
        edit={"edit": "file_path"},
        write={"write_file": "file_path"},
        read={"read_file": "file_path", "read_many_files": ""},
        search={"list_directory": "path", "glob": "path", "grep_search": "path"},
        fetch={"web_fetch": "url", "web_search": ""},
        task={"agent": "", "task": ""},
    ),
    limits={
        (PRE, ASK): limited("Qwen Code denies when a hook asks, so Samuel denies with the question as the reason"),
        (PRE, REWRITE): lost("Qwen Code ignores a rewritten input"),
        (POST, OUTPUT): lost("Qwen Code takes no other output from a hook"),
        (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
        (END, EVENT): limited("Qwen Code does not fire SessionEnd in an unattended run"),
        (END, CONTEXT): limited("suggestions are not read when the session is over"),
    },
    form=lambda native_event, event, reply: as_json(claude_fields(native_event, event, reply)),
    fields={**COMMON, "tool_call_id": "call_id"},  # the id of the model's own call, which transcripts have
    # It fires again after each result of a tool, with nothing in it.
    prompt=lambda payload: text(payload, "prompt") or None,
    result=gemini.result,
    failure=claude.FAILURE,
)
