"""What a program that we start gets to see of the user's environment.

A list of what is passed, not of what is withheld: tokens, keys and whatever makes a loader or an interpreter
run other code (LD_*, DYLD_*, PYTHON*, NODE_OPTIONS, BASH_ENV, ENV, PERL5OPT, RUBYOPT, GIT_*, …) stay out
because they are not listed. A caller that needs one names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from samuel.process.passed import PASSED, PASSED_PREFIXES

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"

TRUST = "SAMUEL_TRUST"
TRUST_WITHHELD = "SAMUEL_TRUST_WITHHELD"  # set in its place, so that a refusal can say why

BRIDGED = "SAMUEL_BRIDGED"
"""Set for the agent of a run whose tool calls the run puts to the hooks, so that another bridge need not."""

WITHHELD = frozenset((TRUST,))
"""What the user agreed to run is not a hook's to know, nor to hand on to a Samuel that it starts."""

_REFERENCE = r"\$([A-Za-z_][A-Za-z0-9_]*)"
_NOTHING: Mapping[str, str] = MappingProxyType({})


def clean(
    extra: Mapping[str, str] = _NOTHING, pass_names: Iterable[str] = (), base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment for a program: what is passed of `base` (ours unless given), then `extra` on top.

    `pass_names` are passed in addition to the usual ones. There is always a PATH, and a program on it is the same
    one in every working directory: relative entries are left out.
    """
    base = os.environ if base is None else base
    named = frozenset(pass_names)
    env = {name: value for name, value in base.items() if name in named or _is_passed(name)}
    if base.get(TRUST) == "all":
        env[TRUST_WITHHELD] = "1"
    env.update(extra)
    env["PATH"] = os.pathsep.join(absolute_entries(env.get("PATH", ""))) or DEFAULT_PATH
    return env


def referenced(value: str) -> str:
    """The host's variable that a value stands for: NAME for `$NAME`, "" for a plain value.

    Only a whole value is a reference. `x$NAME` and `${NAME}` stay as they are.
    """
    match = re.fullmatch(_REFERENCE, value)
    return match[1] if match else ""


def absolute_entries(path: str) -> list[str]:
    """The entries of a PATH that mean the same everywhere. An empty one means the working directory."""
    return [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]


def _is_passed(name: str) -> bool:
    return (name in PASSED or name.startswith(PASSED_PREFIXES)) and name not in WITHHELD
