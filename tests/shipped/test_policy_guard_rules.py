from __future__ import annotations

from typing import Any

import pytest

from samuel.shipped.policy_guard.rules import GuardedCall, Policy, Rule, first_fitting


def call(environments: tuple[str, ...] = (), paths: tuple[str, ...] = (), **fields: Any) -> GuardedCall:
    return GuardedCall(fields.get, frozenset(environments), frozenset(paths))


def fits(rule: Rule, given: GuardedCall) -> bool:
    return first_fitting(Policy((rule,)), given) is not None


def test_the_first_rule_that_fits_decides() -> None:
    policy = Policy(
        (
            Rule("deny", match={"ability_id": ["x"]}),
            Rule("allow", match={"ability_id": ["a*"]}),
            Rule("ask"),
        )
    )
    assert first_fitting(policy, call(ability_id="abc")) == (2, policy.rules[1])
    assert first_fitting(policy, call(ability_id="b")) == (3, policy.rules[2])
    assert first_fitting(Policy(), call(ability_id="b")) is None


def test_everything_that_a_rule_names_must_fit() -> None:
    rule = Rule("deny", match={"operation_key": ["db.*"]}, environment=("prod",), path=("data/**",))
    assert fits(rule, call(("prod",), ("data/x",), operation_key="db.write"))
    assert not fits(rule, call(("dev",), ("data/x",), operation_key="db.write"))
    assert not fits(rule, call(("prod",), ("docs/x",), operation_key="db.write"))
    assert not fits(rule, call(("prod",), ("data/x",), operation_key="mail.send"))
    assert not fits(rule, call(("prod",), ("data/x",)))


@pytest.mark.parametrize("decision", ["deny", "ask"])
def test_one_of_many_is_enough_for_a_no(decision: Any) -> None:
    assert fits(Rule(decision, path=("infra/**",)), call(paths=("docs/x", "infra/x")))
    assert fits(Rule(decision, environment=("prod*",)), call(("dev", "Production")))


def test_a_yes_must_fit_all_of_them() -> None:
    assert fits(Rule("allow", environment=("dev*",)), call(("dev", "dev2")))
    assert not fits(Rule("allow", environment=("dev",)), call(("dev", "prod")))
    assert not fits(Rule("allow", environment=("dev",)), call())
