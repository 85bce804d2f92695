"""Which calls of abilities are denied, and which are asked about: the rules of `policy_guard`.

    config:
      rules:
        - decision: deny                  # deny, ask, or allow: go on without a look at the rules below
          reason: Production is written to by the release pipeline alone.
          operation_key: ["db.*", deploy] # globs; ability_id and ability_scope likewise
          environment: [prod, production]
        - decision: ask
          path: ["infra/**", "*.tf"]      # patterns as in a .gitignore, of the paths in the call's input

The first rule that fits decides; a rule fits if all that it names does. One environment or path of a call is
enough for a rule that says no; a rule that allows must fit all of its environments, and cannot go by paths: any
word of an input could be a path. Only a text of several lines is content, unless it is a command.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.files.globs import any_chosen
from samuel.hooks.match import holds
from samuel.shipped.rule_values import entries, sentence

ALLOW = "allow"
NAMES = ("ability_id", "ability_scope", "operation_key")


class Rule(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    decision: Literal["deny", "ask", "allow"]
    reason: str = ""
    match: dict[str, list[str]] = {}  # of NAMES: what the call is called by
    environment: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


class Policy(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    rules: tuple[Rule, ...] = ()


class GuardedCall(msgspec.Struct, frozen=True):
    """What the rules look at."""

    field: Callable[[str], Any]
    """The value of a field of the event; None where it does not say."""
    environments: frozenset[str] = frozenset()
    """Where it takes place, and where its input says that it should."""
    paths: frozenset[str] = frozenset()
    """What its input names, from the project's root."""


def read(table: ConfigTable) -> Policy:
    found = []
    for entry in entries(table, "rules"):
        decision = entry.require("decision", kinds.one_of("deny", "ask", ALLOW), "deny")
        if decision == ALLOW and "path" in entry:
            entry.refuse(
                "path", "a rule that allows cannot go by `path`: the input may name others", "leave it out"
            )
        found.append(
            Rule(
                decision=decision,  # type: ignore[arg-type]  # one of these three
                reason=entry.take("reason", sentence, ""),
                match={key: list(value) for key in NAMES if (value := entry.take(key, kinds.patterns, ()))},
                environment=entry.take("environment", kinds.patterns, ()),
                path=entry.take("path", kinds.patterns, ()),
            )
        )
    return Policy(tuple(found))


def first_fitting(policy: Policy, call: GuardedCall) -> tuple[int, Rule] | None:
    """The rule that decides, with its number from 1."""
    return next(((at, rule) for at, rule in enumerate(policy.rules, 1) if _fits(rule, call)), None)


def _fits(rule: Rule, call: GuardedCall) -> bool:
    return (
        holds(rule.match, call.field)
        and (not rule.environment or _in_environment(rule, call.environments))
        and (not rule.path or any_chosen(call.paths, rule.path))
    )


def _in_environment(rule: Rule, there: frozenset[str]) -> bool:
    fitting = [
        one for one in there if any(fnmatchcase(one.casefold(), glob.casefold()) for glob in rule.environment)
    ]
    return bool(fitting) and (rule.decision != ALLOW or len(fitting) == len(there))
