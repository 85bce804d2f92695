"""The rules of `policy_guard`: which calls of abilities are denied, and which need a confirmation.

    config:
      rules:
        - decision: deny                  # deny, ask, or allow: skip the rules below
          reason: Production is written to by the release pipeline alone.
          operation_key: ["db.*", deploy] # globs; ability_id and ability_scope likewise
          environment: [prod, production]
        - decision: ask
          path: ["infra/**", "*.tf"]      # patterns as in a .gitignore, of the paths in the call's input

The first rule that matches decides; a rule matches if all of its conditions do. One environment or path of a call
is enough for a rule that denies or asks. A rule that allows must match all environments of the call, and cannot
name paths: any word of an input could be a path. Only a text of several lines is content, unless it is a command.
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
    match: dict[str, list[str]] = {}  # the keys are of NAMES
    environment: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


class Policy(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    rules: tuple[Rule, ...] = ()


class GuardedCall(msgspec.Struct, frozen=True):
    """What the rules look at in a call."""

    field: Callable[[str], Any]
    """The value of a field of the event; None if it is not set."""
    environments: frozenset[str] = frozenset()
    """Where Samuel runs, and the environments that the call names."""
    paths: frozenset[str] = frozenset()
    """The paths that the input names, relative to the project's root."""


def read(table: ConfigTable) -> Policy:
    """The policy below `config:` of the hook; what is wrong is noted in the table's report."""
    rules = []
    for entry in entries(table, "rules"):
        decision = entry.require("decision", kinds.one_of("deny", "ask", ALLOW), "deny")
        if decision == ALLOW and "path" in entry:
            what = "a rule with `decision: allow` cannot have `path`: the input may name other paths too"
            entry.refuse("path", what, "leave it out")
        rules.append(
            Rule(
                decision=decision,  # type: ignore[arg-type]  # one of these three
                reason=entry.take("reason", sentence, ""),
                match={key: list(value) for key in NAMES if (value := entry.take(key, kinds.patterns, ()))},
                environment=entry.take("environment", kinds.patterns, ()),
                path=entry.take("path", kinds.patterns, ()),
            )
        )
    return Policy(tuple(rules))


def first_match(policy: Policy, call: GuardedCall) -> tuple[int, Rule] | None:
    """The rule that decides, with its number from 1."""
    return next(((number, rule) for number, rule in enumerate(policy.rules, 1) if _matches(rule, call)), None)


def _matches(rule: Rule, call: GuardedCall) -> bool:
    return (
        holds(rule.match, call.field)
        and (not rule.environment or _in_environment(rule, call.environments))
        and (not rule.path or any_chosen(call.paths, rule.path))
    )


def _in_environment(rule: Rule, environments: frozenset[str]) -> bool:
    globs = [glob.casefold() for glob in rule.environment]
    matching = [name for name in environments if any(fnmatchcase(name.casefold(), glob) for glob in globs)]
    return bool(matching) and (rule.decision != ALLOW or len(matching) == len(environments))
