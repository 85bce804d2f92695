"""The command line that a client's hook runs: `samuel-emit --as CLIENT EVENT`, made safe against its absence.

Clients take every exit code but 2 for a fault of the hook, and go on. So on an event that can be denied a shell
turns whatever goes wrong (not installed, killed, crashed, too slow) into a denial in the client's own words.

The shell is one of our own, not the one in which the client runs its hooks, although that costs half a
millisecond. That one may be fish, may have been told to end at the first failure (`BASH_ENV`, `SHELLOPTS`), and
ends with 1 or 254 if it cannot fork; it becomes ours without a fork. Where ours is bash, the trap makes such an
end a denial.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

from samuel.clients.dialect.events import DENIABLE
from samuel.clients.table import CLIENTS, LAYOUTS
from samuel.process.emit_client import DEADLINE_OPTION, NATIVE_CLIENT, installation_of

TIMEOUT = 120
"""Seconds that the client gives the command."""

DEADLINE = TIMEOUT - 10
"""Seconds after which the command denies: before the client stops waiting and goes on."""

_ABSENT = (
    "samuel-emit is not on PATH, failed or took too long, so this is denied. Install Samuel, or run: samuel doctor"
)
_MOVED = "samuel-emit was moved, failed or took too long, so this is denied"

# By its path: where PATH has no `sh`, the client's own shell would end with 127, and the client goes on.
_SHELL = "/bin/sh"

_DENY_ON_EXIT, _EXIT_AS_USUAL = 'trap "exit 2" EXIT; ', "; trap - EXIT"  # around what needs a fork

_PLAIN = re.compile(r"[\w./-]+", re.ASCII)
_SPECIAL = re.compile(r'([\\"$`])')

# What `hook_script` writes, with any message and deadline.
_WORD = r'(?:"(?:[^"\\]|\\.)*"|[\w./-]+)'
_LINE = rf"(?P<words>{_WORD}(?: {_WORD})*) --as (?P<client>[\w-]+) (?P<event>[\w.:-]+)"
_LEAVE_OUT = r"(?:case \$\{PATH%%:\*\} in \S+\) PATH=\$\{PATH#\*:\};; esac; )?"
_ENTER = rf'{_LEAVE_OUT}(?:cd "\$\{{\w+:-\.\}}" && )?'
_SCRIPTS = (
    re.compile(rf"command -v {_WORD} >/dev/null 2>&1 \|\| exit 0; {_ENTER}exec {_LINE}"),
    re.compile(
        rf"{_DENY_ON_EXIT}{_ENTER}{_LINE} --deadline \d+"
        rf" \|\| {{ \[ \$\? = 2 \] \|\| echo {_WORD} >&2; exit 2; }}{_EXIT_AS_USUAL}"
    ),
    re.compile(rf"{_DENY_ON_EXIT}{_ENTER}answer=\$\({_LINE} --deadline \d+\) && .*; case \$code in .*; exit [02]"),
)
_SAMUEL = re.compile(r'samuel(-emit"?|"? emit)$')


class EmitCommand(NamedTuple):
    """How `samuel emit` is started: by the name of its small client on PATH, or by an absolute path."""

    words: tuple[str, ...] = (NATIVE_CLIENT,)
    of_run: bool = False
    """Whether it answers for the project of a run, in whatever directory it is started."""
    fails_closed: bool = False
    """Whether the client can be told to deny by itself where the command could not decide."""
    of_administrator: bool = False
    """Whether it is in a file that the user cannot change."""

    @property
    def on_path(self) -> bool:
        return self.words == (NATIVE_CLIENT,)

    def line(self, client: str, event: str) -> str:
        return f"{' '.join(map(_quoted, self.words))} --as {client} {event}"


ON_PATH = EmitCommand()


def installed_command() -> EmitCommand:
    """The samuel that is running now, by its absolute path."""
    programs = Path(installation_of(sys.argv[0], sys.executable))
    if (small := programs / NATIVE_CLIENT).is_file():
        return EmitCommand((str(small),))
    if (script := programs / "samuel").is_file():
        return EmitCommand((str(script), "emit"))
    return EmitCommand((sys.executable, "-P", "-m", "samuel", "emit"))


def hook_script(command: EmitCommand, client: str, event: str) -> str:
    """The shell script for one event of a client."""
    line = command.line(client, event)
    facts = LAYOUTS[client].command
    variable = facts.project_variable
    enter = f'cd "${{{variable}:-.}}" && ' if variable and not command.of_run else ""
    if (directory := facts.session_directory) and not command.of_run:
        enter = f"case ${{PATH%%:*}} in {directory}) PATH=${{PATH#*:}};; esac; {enter}"
    if CLIENTS[client].events[event] not in DENIABLE:
        return f"command -v {_quoted(command.words[0])} >/dev/null 2>&1 || exit 0; {enter}exec {line}"
    line += f" {DEADLINE_OPTION} {DEADLINE}"
    reason = _ABSENT if command.on_path else _MOVED
    if command.of_administrator:
        reason += ". Ask the administrator of this machine to install Samuel again"
    elif not (command.on_path or command.of_run):
        reason += f". Run: samuel bridge add --user {client}"
    if facts.exit_code_denies:
        denial_script = f"[ $? = 2 ] || echo {_quoted(reason)} >&2; exit 2"
        return f"{_DENY_ON_EXIT}{enter}{line} || {{ {denial_script}; }}{_EXIT_AS_USUAL}"
    deny = _deny(facts.denial(event, reason), reason)
    return (
        f"{_DENY_ON_EXIT}{enter}answer=$({line}) && code=0 || code=$?{_EXIT_AS_USUAL}; "
        f'case $code in 0|2) printf %s "$answer" || exit 2; exit $code;; esac; {deny}'
    )


def hook_command(command: EmitCommand, client: str, event: str) -> str:
    """The script as one command line, whatever shell the client gives it to."""
    return f"{_SHELL} -c {shlex.quote(hook_script(command, client, event))}"


def event_of(command: object, client: str) -> str:
    """The event for which `bridge add` wrote this command line; "" if it did not."""
    script = _script(command) if isinstance(command, str) else ""
    for form in _SCRIPTS:
        ours = form.fullmatch(script)
        if ours and ours["client"] == client and _SAMUEL.search(ours["words"]):
            return ours["event"]
    return ""


def _script(command: str) -> str:
    """The script that `hook_command` of any version made into this command line; "" if it is another one."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quote that does not end
        return ""
    return words[2] if len(words) == 3 and words[0] in (_SHELL, "sh") and words[1] == "-c" else ""


def _deny(answer: dict[str, object], reason: str) -> str:
    if answer:
        return f"echo {_quoted(json.dumps(answer))} || exit 2; exit 0"
    return f"echo {_quoted(reason)} >&2; exit 2"


def _quoted(word: str) -> str:
    """The word in double quotes if it needs any: `sh -c` is given the script in single ones."""
    return word if _PLAIN.fullmatch(word) else '"' + _SPECIAL.sub(r"\\\1", word) + '"'
