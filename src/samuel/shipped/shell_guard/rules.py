"""What `shell_guard` reads below `config:`: rules that are off, and rules of the user's own.

config:
  off: [git-stash-drop]               # `samuel hooks rules shell_guard` lists the ids
  rules:                              # as those of policy_guard; they are looked at first
    - decision: allow
      program: rm
      arguments: "-rf scratch"
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from samuel.base.nearest import did_you_mean
from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.shipped.policy_guard.rules import ALLOW, Policy
from samuel.shipped.policy_guard.rules import read as read_policy


class ShellGuardRules(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    off: tuple[str, ...] = ()
    """Ids of rules that do not apply."""
    policy: Policy = Policy()


def read(table: ConfigTable) -> ShellGuardRules:
    off = table.take("off", _rule_ids, ())
    has_opaque = "opaque" in table
    policy = read_policy(table)
    # what cannot be read is the business of the rules of the area `unreadable`
    return ShellGuardRules(off, policy if has_opaque else replace(policy, opaque=ALLOW))


def _rule_ids(value: object) -> tuple[str, ...]:
    """Ids of rules: one, or a list of them, which may be empty."""
    if value == []:
        return ()
    ids = kinds.patterns(value)
    from samuel.shipped.shell_guard.catalogue import GUARD_RULES  # the rules themselves, for those who name some

    for id in ids:
        if id not in GUARD_RULES:
            hint = did_you_mean(id, GUARD_RULES, "`samuel hooks rules shell_guard` lists them")
            raise ValueError(f"must have ids of rules; there is none called `{id}`: {hint}")
    return ids
