"""The rules of `policy_guard`: which calls of abilities are denied, and which need a confirmation.

    config:
      rules:
        - decision: deny                  # deny, ask, or allow: skip the rules below
          reason: Production is written to by the release pipeline alone.
          operation_key: ["db.*", deploy] # globs; ability_id and ability_scope likewise
          environment: [prod, production]
        - decision: ask
          path: ["infra/**", "*.tf"]      # patterns as in a .gitignore, of the paths in the call's input
        - decision: deny
          program: [rm, shred]            # of the commands that a shell would run, wherever they stand
          arguments: ["-rf", "-r --no-preserve-root"]
          paths: ["/", "src/**"]          # that such a command names
      opaque: ask                         # about a command that may be one of these: deny, ask or allow

The first rule that matches decides; a rule matches if all of its conditions do. One environment or path of a call
is enough for a rule that denies or asks. A rule that allows must match all environments of the call and all of its
commands, and cannot name paths: any word of an input could be a path. Only a text of several lines is content,
unless it is a command.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.files.globs import any_chosen
from samuel.hooks.match import holds
from samuel.shipped.policy_guard.command_rules import Applies, CommandConditions, ShellCall, permits, restricts
from samuel.shipped.rule_values import entries, sentence

ALLOW = "allow"
NAMES = ("ability_id", "ability_scope", "operation_key")


class Rule(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    decision: Literal["deny", "ask", "allow"]
    reason: str = ""
    match: dict[str, list[str]] = {}  # the keys are of NAMES
    environment: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    @property
    def commands(self) -> CommandConditions:
        return CommandConditions(self.program, self.arguments, self.paths)


class Policy(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    rules: tuple[Rule, ...] = ()
    opaque: Literal["deny", "ask", "allow"] = "ask"


class PolicyVerdict(NamedTuple):
    """What the policy says to a call."""

    decision: Literal["deny", "ask", "allow"]
    number: int
    """Of the rule, from 1."""
    rule: Rule
    doubt: str = ""
    """Why it cannot be known whether the rule matches; empty if it does."""


class GuardedCall(msgspec.Struct, frozen=True):
    """What the rules look at in a call."""

    field: Callable[[str], Any]
    """The value of a field of the event; None if it is not set."""
    environments: frozenset[str] = frozenset()
    """Where Samuel runs, and the environments that the call names."""
    paths: frozenset[str] = frozenset()
    """The paths that the input names, relative to the project's root."""
    shell: ShellCall = ShellCall()
    """The commands that the input has for a shell."""


def read(table: ConfigTable) -> Policy:
    """The policy below `config:` of the hook; what is wrong is noted in the table's report."""
    rules = []
    for entry in entries(table, "rules"):
        decision = entry.require("decision", kinds.one_of("deny", "ask", ALLOW), "deny")
        for key in ("path", "paths"):
            if decision == ALLOW and key in entry:
                what = f"a rule with `decision: allow` cannot have `{key}`: the input may name other paths too"
                entry.refuse(key, what, "leave it out")
        rules.append(
            Rule(
                decision=decision,  # type: ignore[arg-type]  # one of these three
                reason=entry.take("reason", sentence, ""),
                match={key: list(value) for key in NAMES if (value := entry.take(key, kinds.patterns, ()))},
                environment=entry.take("environment", kinds.patterns, ()),
                path=entry.take("path", kinds.patterns, ()),
                program=entry.take("program", kinds.patterns, ()),
                arguments=entry.take("arguments", kinds.patterns, ()),
                paths=entry.take("paths", kinds.patterns, ()),
            )
        )
    opaque = table.take("opaque", kinds.one_of("deny", "ask", ALLOW), "ask")
    return Policy(tuple(rules), opaque)  # type: ignore[arg-type]  # one of these three


def judge(policy: Policy, call: GuardedCall) -> PolicyVerdict | None:
    """What the first rule that matches says, or the policy about commands that cannot be read; the stricter."""
    doubtful: PolicyVerdict | None = None
    for number, rule in enumerate(policy.rules, 1):
        applies = _applies(rule, call)
        if applies is Applies.YES:
            match = PolicyVerdict(rule.decision, number, rule)
            return doubtful if doubtful and _strictness(doubtful) > _strictness(match) else match
        if applies is Applies.MAYBE and doubtful is None and policy.opaque != ALLOW:
            doubtful = PolicyVerdict(policy.opaque, number, rule, _doubt(call))
    return doubtful


def _strictness(verdict: PolicyVerdict) -> int:
    return (ALLOW, "ask", "deny").index(verdict.decision)


def _doubt(call: GuardedCall) -> str:
    if call.shell.opaque:
        part = call.shell.opaque[0]
        return f"{part.reason}: `{part.text}`"
    return "its arguments are not known until it runs"


def _applies(rule: Rule, call: GuardedCall) -> Applies:
    matches = (
        holds(rule.match, call.field)
        and (not rule.environment or _in_environment(rule, call.environments))
        and (not rule.path or any_chosen(call.paths, rule.path))
    )
    if not matches or not any(rule.commands):
        return Applies.YES if matches else Applies.NO
    if rule.decision == ALLOW:
        return Applies.YES if permits(rule.commands, call.shell) else Applies.NO
    return restricts(rule.commands, call.shell)


def _in_environment(rule: Rule, environments: frozenset[str]) -> bool:
    globs = [glob.casefold() for glob in rule.environment]
    matching = [name for name in environments if any(fnmatchcase(name.casefold(), glob) for glob in globs)]
    return bool(matching) and (rule.decision != ALLOW or len(matching) == len(environments))
