"""The page about agents' own hooks: what each client's dialect translates, honours, limits and loses."""

from __future__ import annotations

from page import NOTE, table

from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import POST, PRE, PROMPT, STOP
from samuel.clients.dialect.limits import ASK, DENY, FOLLOW_UP, OUTPUT, REWRITE
from samuel.clients.dialect.tools import COMMON_NAMES
from samuel.clients.promises import PROMISES
from samuel.clients.table import AGENTS, CLIENTS

HEAD = """\
# Agents' own hooks

On this page you can look up what Samuel's hooks can do inside an agent that has its own hooks and calls
`samuel-emit --as AGENT EVENT` from them, the fast form of `samuel emit`. Each agent has a page with its files, its
events and its limits. `samuel hooks check --agent AGENT` says the same about the hooks of your project. The last
column has the version that Samuel was run with, against a model on the same machine; *documentation* means that
the agent could not be run, and that everything about it follows what its makers wrote.

## In short { #in-short }
"""

SHORT = {
    "deny a call": (PRE, DENY),
    "ask about a call": (PRE, ASK),
    "rewrite a call": (PRE, REWRITE),
    "replace an output": (POST, OUTPUT),
    "deny a prompt": (PROMPT, DENY),
    "keep it going": (STOP, FOLLOW_UP),
}

OPENCODE_2 = """
The plugin of opencode has a half for opencode 1 and one for opencode 2, and the version that runs loads its own.
The second follows the documentation and the source of opencode 2, which could not be installed here: prove it with
`samuel bridge check --live opencode`. Whether opencode 2 obeys the denial of a prompt is not documented.
"""

ALLOW = """\
## Silence, not allow { #silence }

Samuel says nothing where no hook objects, so that an agent's own permission prompts stay as they are. There are
these exceptions:

- **Codex**, **Copilot CLI** and **Cursor** take a rewritten input only together with their `allow`. A call that a
  hook rewrote is not asked about again there.
- **Antigravity CLI** denies a call when the answer has no decision. Its `allow` does not switch its own prompt
  off.

Claude Code, Gemini CLI, opencode and Cline take a rewrite without it.
"""

FAULTS = """\
## What fails closed { #faults }

On `UserPromptSubmit`, `PreAbilityCall`, `PreCompact` and `ConfigChange` every error is a denial in the agent's own
words, with the reason: a payload that is not JSON, a field that a newer version of the agent renamed, a
samuel.toml that cannot be read, a guard that is not trusted, crashes or takes too long. On other events an error
is a message, and the agent goes on.

Samuel cannot answer when it does not run: it is not on PATH, was killed, or takes longer than the agent waits. The
commands that `samuel bridge add` writes deny in that case. With your own command the agent decides, and most
agents let the call through.

Claude Code can also post its events to a URL (hooks of the type `http`). `samuel bridge add` does not write these:
by [its documentation](https://code.claude.com/docs/en/hooks) a connection that is refused, a status other than 2xx
and a timeout are errors that let the call through, so a guard would be off whenever no server runs. The native
`samuel-emit` starts the server itself, denies without an answer, costs about two milliseconds, and needs no port
that other users and web pages could reach. `http` hooks are not faster either: when they answered at once, a tool
call took 1.5 times as long as without hooks, and with commands that run `true` 1.4 times.

## In a run { #run }

In a run the hooks of an agent are a command that Samuel writes for this one process. Your own hooks see the
variables (`PATH`, the locale, `SAMUEL_*` and so on) that the agent was started with, even if it changed them.
The command asks a server that the loop started for this agent. It names the server's process, and does not
accept an answer from [any other](../explanation/trust-model.md#the-server-of-a-run). Without that server, as in
the sandbox `bwrap` or on macOS, a separate process answers each call.

The agent gets a hook before its tool calls. It gets one after them only if the run has a handler for
`PostAbilityCall`; without one, the journal of the run has no such events. The same holds for `SubagentStop`,
`Notification`, `PreCompact` and `ConfigChange`, where the agent has them. The loop fires none of these by itself.
"""


RELAYED = """\
## Hooks of Claude Code in other agents { #relayed }

**Grok Build**, **Copilot CLI** and **Cursor** run the hooks in `.claude/settings.json`, too, and Grok Build also
those in `.cursor/hooks.json`. So `samuel bridge add claude` reaches these agents in the same project. Samuel sees
by the payload who sent it, reads it with the names of that agent, and answers in its words. Grok Build cannot be
made to ask in every mode, so a question is a denial there.

If such an agent has hooks of its own for Samuel as well, it delivers each event through all of them, at times in
several processes at once. The event is fired once: one entry in the journal, one verdict, and every hook answers
with it. A call is recognised by its id, or, where the agent tells none, by its session, its input and how often
each hook delivered it. Grok Build 1.0.41 and Copilot CLI 1.0.102 were run this way; what Cursor sends follows
reports of its users.
"""


def agents_page() -> str:
    """The whole page."""
    return NOTE + "\n".join([HEAD, _short(), ALLOW, FAULTS, _versions(), RELAYED, _tools()])


def _short() -> str:
    rows = [
        [
            f"[{client.title}](agents/{client.name}.md)",
            *(_verdict(client, *what) for what in SHORT.values()),
            _run_with(client),
        ]
        for client in CLIENTS.values()
    ]
    return table(["agent", *SHORT, "run with"], rows) + OPENCODE_2


def _run_with(client: Client) -> str:
    """The version that the hooks of a client were run with."""
    if client.documented:
        return "*documentation*"
    return client.checked or AGENTS[client.name].checked


def _verdict(client: Client, event: str, kind: str) -> str:
    if event not in client.events.values():
        return "lost"
    limit = client.limits.get((event, kind))
    return limit.verdict if limit else "honoured"


VERSIONS = """\
## What needs which version { #versions }

Some promises need a version of the agent. `samuel bridge check` and `samuel doctor` name those that the installed
one is too old for. What an agent does that is not in this table was seen with the version that
[its page](#in-short) and `samuel agents` name. [What was run](../explanation/agents-proven.md) has the results.

"""


def _versions() -> str:
    rows = [
        [CLIENTS[name].title, promise.since, f"`{promise.key}`", promise.what, promise.otherwise]
        for name, promises in PROMISES.items()
        for promise in promises
    ]
    return VERSIONS + table(["agent", "since", "by", "what holds", "before"], rows)


def _tools() -> str:
    names = list(COMMON_NAMES)
    rows = [[client.title, *(_own_names(client, name) for name in names)] for client in CLIENTS.values()]
    return f"""\
## Names of tools {{ #tools }}

`ability_id` is the same for all agents, so that one rule works everywhere; the agent's own name is in `tool_name`.
A tool of an MCP server is `mcp:server/tool`, and any other tool keeps its own name. In `tool_input` a shell
command is in `command`, and a file in `path`; the other keys are the agent's own. A filter on an agent's own name,
like `match: {{ability_id: [Bash]}}`, never matches; `samuel hooks validate` warns about it.

{table(["agent", *(f"`{name}`" for name in names)], rows)}"""


def _own_names(client: Client, common: str) -> str:
    return ", ".join(f"`{own}`" for own, tool in client.tools.items() if tool.name == common) or "-"
