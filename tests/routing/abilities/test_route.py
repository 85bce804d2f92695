from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.events.session import SuggestedAbility
from samuel.routing.abilities.model import Ability, Level
from samuel.routing.abilities.registry import Registry, load
from samuel.routing.abilities.route import AbilityRouting, RouteScope, in_scope, open_index, route
from samuel.routing.abilities.usage import AbilityUsage


def ability(id: str, level: Level = Level.LOW, **fields: object) -> Ability:
    return Ability(id=id, level=level, file=f"{id}.yaml", **({"summary": "Does something"} | fields))  # type: ignore[arg-type]


REGISTRY = Registry(
    abilities=(
        ability(
            "billing_regression",
            Level.HIGH,
            operation_key="workflow.billing.regression",
            type="workflow",
            when_to_use="Run the billing regression suite with seeded data",
            keywords=("regression tests",),
            negative_keywords=("production", "end to end"),
            environments=("dev", "staging"),
            modules=("billing",),
        ),
        ability("deploy", Level.HIGH, type="workflow", summary="Deploy a service", keywords=("roll out",)),
        ability("deploy.image", summary="Deploy one image", keywords=("deploy image",), scopes=("infra/*",)),
        ability("logs.a", summary="Search logs of a service", keywords=("search logs",)),
        ability("logs.b", summary="Search logs of a service", keywords=("search logs",)),
    )
)


def ask(
    text: str, registry: Registry = REGISTRY, environment: str = "", scope: str = "", **options: object
) -> AbilityRouting:
    with open_index(registry) as index:
        where = RouteScope(environment, scope)
        return route(text, registry, index, where=where, **options)  # type: ignore[arg-type]


def ids(routed: AbilityRouting) -> list[str]:
    return [candidate.id for candidate in routed.candidates]


def test_the_best_ability_is_first_with_its_reasons() -> None:
    (candidate,) = ask("Run the full billing regression tests for me").candidates
    assert candidate.id == "billing_regression"
    assert (
        candidate.reasons[0]
        == f"{candidate.score:.2f} for `billing`, `regression` in its name; `tests` in its keywords"
    )
    assert 0 < candidate.score < 1


def test_the_reasons_name_the_synonym_that_matched() -> None:
    assert "`ship (deploy)`" in ask("ship it").candidates[0].reasons[0]
    (candidate,) = ask("the billing regresion tests").candidates
    assert "`regresion (regression)` in its name" in candidate.reasons[0]


def test_a_question_for_an_explanation_is_offered_no_ability() -> None:
    assert ids(ask("roll out")) == ["deploy"]
    assert ask("what is a rollout?").candidates == ()


def test_high_level_abilities_come_first() -> None:
    registry = Registry(
        abilities=(
            ability("a.low", keywords=("renew certificate", "tls")),
            ability("z_high", Level.HIGH, keywords=("renew certificate",)),
        )
    )
    routed = ask("renew the tls certificate", registry)
    assert [(candidate.id, candidate.level) for candidate in routed.candidates] == [
        ("z_high", Level.HIGH),
        ("a.low", Level.LOW),
    ]
    assert routed.candidates[0].score < routed.candidates[1].score


def test_a_high_level_ability_that_hardly_fits_is_not_put_first() -> None:
    registry = Registry(
        abilities=(
            ability("release", Level.HIGH, summary="Release a service and purge what is old"),
            ability("cache.purge", keywords=("purge cache", "flush redis"), summary="Purge the cache"),
        )
    )
    assert ids(ask("purge the cache, flush redis", registry)) == ["cache.purge"]


def test_a_text_that_fits_no_ability_is_answered_with_the_reason() -> None:
    routed = ask("What will the weather be like in Lisbon?")
    assert routed.candidates == ()
    assert routed.nothing == "no ability matches"
    assert ask("the service was great and the food delicious").nothing.startswith(
        "nothing fits well enough; the nearest is `"
    )
    assert ask("deploy", Registry()).nothing == "there are no abilities here"


@pytest.mark.parametrize("text", ["billing regression tests in production", "end-to-end billing regression tests"])
def test_a_negative_keyword_rules_an_ability_out(text: str) -> None:
    routed = ask(text)
    assert ids(routed) == []
    assert list(routed.left_out) == ["billing_regression"]
    assert "is one of its negative keywords" in routed.left_out["billing_regression"]
    assert "`billing_regression`" in routed.nothing


def test_a_part_of_a_negative_keyword_rules_nothing_out() -> None:
    assert ids(ask("billing regression tests, and tell me in the end")) == ["billing_regression"]
    assert ids(ask("billing regression tests for all products")) == ["billing_regression"]


def test_an_ability_with_environments_says_that_none_is_set() -> None:
    (candidate,) = ask("billing regression tests").candidates
    assert candidate.reasons[-1] == "runs in `dev`, `staging` only, and no environment is set"
    (candidate,) = ask("billing regression tests", environment="dev").candidates
    assert "no environment" not in candidate.reasons[-1]


def test_an_ability_for_other_environments_is_left_out() -> None:
    assert ids(ask("billing regression tests", environment="staging")) == ["billing_regression"]
    routed = ask("billing regression tests", environment="prod")
    assert routed.candidates == ()
    assert routed.left_out == {"billing_regression": "it is for `dev`, `staging`, not for `prod`"}


def test_an_ability_for_another_scope_is_left_out() -> None:
    assert ids(ask("billing regression tests", scope="billing/invoices")) == ["billing_regression"]
    assert ask("billing regression tests", scope="search").left_out == {
        "billing_regression": "it is for `billing`, not for `search`"
    }


@pytest.mark.parametrize(
    ("scopes", "scope", "expected"),
    [
        ([], "anything", True),
        (["billing"], "billing", True),
        (["Billing"], "billing/invoices", True),
        (["integration/billing"], "integration", True),
        (["billing"], "billing2", False),
        (["modules/billing.*"], "modules/billing.api", True),
        (["modules/billing.*"], "modules/search.api", False),
        (["a", "b"], "b", True),
        (["[" * 1_000_000], "a", False),
    ],
)
def test_a_scope_is_a_place_in_a_tree_or_a_pattern(scopes: list[str], scope: str, expected: bool) -> None:
    assert in_scope(scopes, scope) is expected


def test_a_suggestion_moves_an_ability_up_by_its_confidence() -> None:
    def score(*suggestions: SuggestedAbility) -> float:
        return ask("billing regression tests", suggestions=suggestions).candidates[0].score

    without = score()
    unsure = score(SuggestedAbility("billing_regression", "", 0.1))
    sure = score(SuggestedAbility("workflow.billing.regression", "Regression workflow", 0.9))
    assert without < unsure < sure < 1
    assert sure == score(
        SuggestedAbility("billing_regression", "", 0.1), SuggestedAbility("billing_regression", "", 0.9)
    )
    (candidate,) = ask(
        "billing regression tests", suggestions=[SuggestedAbility("billing_regression", "a\n b", 0.9)]
    ).candidates
    assert candidate.reasons[1].endswith("suggested by a hook with confidence 0.90: a b")


def test_what_a_hook_suggests_is_offered_even_without_a_word_in_common() -> None:
    routed = ask("do the usual", suggestions=[SuggestedAbility("logs.a", "asked for every morning", 0.8)])
    assert ids(routed) == ["logs.a"]
    assert routed.candidates[0].reasons == (
        "+0.40 suggested by a hook with confidence 0.80: asked for every morning",
    )


def test_a_suggested_ability_that_does_not_exist_is_reported_and_never_offered() -> None:
    routed = ask(
        "billing regression tests",
        suggestions=[SuggestedAbility("biling_regression", "", 1.0), SuggestedAbility("x" * 999)],
    )
    assert ids(routed) == ["billing_regression"]
    first, second = routed.reported
    assert first == (
        "a hook suggests `biling_regression`, which is not in the registry; did you mean `billing_regression`?"
    )
    assert len(second) < 300


def test_a_suggestion_does_not_override_environment_and_negative_keywords() -> None:
    routed = ask("billing", environment="prod", suggestions=[SuggestedAbility("billing_regression", "", 1.0)])
    assert routed.candidates == ()
    assert routed.left_out == {"billing_regression": "it is for `dev`, `staging`, not for `prod`"}
    routed = ask("in production", suggestions=[SuggestedAbility("billing_regression", "", 1.0)])
    assert routed.candidates == ()


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -5.0, 10.0, None])
def test_the_score_stays_between_0_and_1_with_any_confidence(confidence: float | None) -> None:
    (candidate,) = ask(
        "billing regression tests", suggestions=[SuggestedAbility("billing_regression", "", confidence)]
    ).candidates
    assert 0 < candidate.score <= 1


def test_of_two_equal_abilities_the_more_frequently_used_is_first() -> None:
    assert ids(ask("search logs")) == ["logs.a", "logs.b"]
    assert ids(ask("search logs", usage={"logs.b": AbilityUsage(3)})) == ["logs.b", "logs.a"]
    assert ids(ask("search logs", usage={"logs.b": AbilityUsage(3), "logs.a": AbilityUsage(40)})) == [
        "logs.a",
        "logs.b",
    ]
    assert "used 3 times" in ask("search logs", usage={"logs.b": AbilityUsage(3)}).candidates[0].reasons[1]


def test_a_signal_of_a_hook_counts_like_frequent_use() -> None:
    learned = {"logs.b": AbilityUsage(1, "frequent_usage", 0.7)}
    best = ask("search logs", usage=learned).candidates[0]
    assert (best.id, best.reasons[1].split(" ", 1)[1]) == (
        "logs.b",
        "preferred by a hook with weight 0.70: frequent_usage",
    )
    assert ids(ask("search logs", usage=learned | {"logs.a": AbilityUsage(1000)})) == ["logs.a", "logs.b"]


def test_use_never_wins_over_a_clearly_better_match() -> None:
    registry = Registry(
        abilities=(
            ability(
                "logs.search", keywords=("search logs", "service errors"), summary="Search the logs of a service"
            ),
            ability("logs.rotate", keywords=("rotate logs",), summary="Rotate the logs of a service"),
        )
    )
    text = "search the logs of the service for errors"
    assert ids(ask(text, registry))[0] == "logs.search"
    assert ids(ask(text, registry, usage={"logs.rotate": AbilityUsage(10**9)}))[0] == "logs.search"


def test_frequent_use_alone_does_not_offer_an_ability() -> None:
    assert ask("What will the weather be?", usage={"logs.a": AbilityUsage(10**9)}).candidates == ()


def test_the_same_question_has_the_same_answer(labelled: Path) -> None:
    registry = load(labelled / "project")
    used = {"db.migrate": AbilityUsage(4), "db.backup": AbilityUsage(2)}
    where = {"suggestions": [SuggestedAbility("db.backup", "x", 0.3)], "usage": used}
    answers = [ask("dump the database, then migrate the schema", registry, **where) for _ in range(3)]
    assert answers[0].candidates
    assert answers[0] == answers[1] == answers[2]


def test_at_most_as_many_abilities_as_the_limit_are_offered() -> None:
    registry = Registry(abilities=tuple(ability(f"a{n}", keywords=("rotate token",)) for n in range(20)))
    assert ids(ask("rotate the token", registry, limit=3)) == ["a0", "a1", "a10"]


def test_the_index_is_cached_until_the_registry_changes(write, tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    path = ".system/registry/low-level/seed.yaml"
    root = write({path: "operation_key: db.seed\nsummary: Seed the database\n"})
    registry = load(root)
    with open_index(registry, file) as index:
        assert ids(route("seed the database", registry, index)) == ["db.seed"]
    write({path: "operation_key: db.seed\nsummary: Paint the fence\n"})
    registry = load(root)
    with open_index(registry, file) as index:
        assert ids(route("paint the fence", registry, index)) == ["db.seed"]


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[Registry, object]]:
    registry = load(Path(__file__).parent / "labelled" / "project")
    with open_index(registry) as index:
        yield registry, index


def test_a_prompt_of_a_megabyte_is_routed(shared) -> None:
    registry, index = shared
    noise = "2025-01-15 10:23:45 GET /api/v1/cart 200 12ms\n" * 20_000
    assert ids(route(f"Roll back the last deployment.\n{noise}", registry, index))[0] == "rollback_release"
    assert ids(route(f"{noise}\nRoll back the last deployment.", registry, index))[0] == "rollback_release"


@given(st.text() | st.text('"*^:(){}+-\x00 deploy logs tests OR NEAR \n', max_size=100), st.text(max_size=20))
def test_any_text_is_routed_without_an_exception(shared, text: str, name: str) -> None:
    registry, index = shared
    routed = route(text, registry, index, where=RouteScope(name, name), suggestions=[SuggestedAbility(name, text)])
    assert routed.candidates or routed.nothing
    assert len(routed.reported) == (name not in registry.by_name)
