from __future__ import annotations

from typing import Any

import pytest

from samuel.shipped.policy_guard.rules import GuardedCall, Policy, PolicyVerdict, Rule, judge


def call(environments: tuple[str, ...] = (), paths: tuple[str, ...] = (), **fields: Any) -> GuardedCall:
    return GuardedCall(fields.get, frozenset(environments), frozenset(paths))


def fits(rule: Rule, guarded_call: GuardedCall) -> bool:
    return judge(Policy((rule,)), guarded_call) is not None


def test_the_first_matching_rule_of_a_policy_decides() -> None:
    policy = Policy(
        (
            Rule("deny", match={"ability_id": ["x"]}),
            Rule("allow", match={"ability_id": ["a*"]}),
            Rule("ask"),
        )
    )
    assert judge(policy, call(ability_id="abc")) == PolicyVerdict("allow", 2, policy.rules[1])
    assert judge(policy, call(ability_id="b")) == PolicyVerdict("ask", 3, policy.rules[2])
    assert judge(Policy(), call(ability_id="b")) is None


def test_a_policy_rule_matches_only_if_all_its_conditions_do() -> None:
    rule = Rule("deny", match={"operation_key": ["db.*"]}, environment=("prod",), path=("data/**",))
    assert fits(rule, call(("prod",), ("data/x",), operation_key="db.write"))
    assert not fits(rule, call(("dev",), ("data/x",), operation_key="db.write"))
    assert not fits(rule, call(("prod",), ("docs/x",), operation_key="db.write"))
    assert not fits(rule, call(("prod",), ("data/x",), operation_key="mail.send"))
    assert not fits(rule, call(("prod",), ("data/x",)))


@pytest.mark.parametrize("decision", ["deny", "ask"])
def test_one_environment_or_path_is_enough_for_a_rule_that_denies_or_asks(decision: Any) -> None:
    assert fits(Rule(decision, path=("infra/**",)), call(paths=("docs/x", "infra/x")))
    assert fits(Rule(decision, environment=("prod*",)), call(("dev", "Production")))


def test_a_rule_that_allows_must_match_all_environments() -> None:
    assert fits(Rule("allow", environment=("dev*",)), call(("dev", "dev2")))
    assert not fits(Rule("allow", environment=("dev",)), call(("dev", "prod")))
    assert not fits(Rule("allow", environment=("dev",)), call())
