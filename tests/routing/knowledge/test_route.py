"""Which documents are chosen, why, and what is said when something, or everything, does not fit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.base.errors import UsageError
from samuel.routing.knowledge.model import KnowledgeBase
from samuel.routing.knowledge.reading import read_base
from samuel.routing.knowledge.route import KnowledgeRouting, route

Write = Callable[[dict[str, str]], Path]

POLICY = "docs/quality/pre_commit_policy.md"
COMMANDS = "docs/quality/pre_commit_commands.md"
FAILING = "docs/quality/failing_checks.md"
REVIEW = "docs/quality/review_checklist.md"

# Both as a hook gives them.
PLAN = {
    "new_intent": {
        "scope": "execution.quality_gates",
        "topic": "pre_commit_checks",
        "stage": "plan",
        "intent": "ensure_code_quality_before_commit",
        "signals": {"user_raw_input": "I want to run a pre-commit check", "cli_command": "make dev_check"},
    }
}
UNDERSTAND = {
    "new_intent": {
        "scope": "execution.quality_gates",
        "topic": "pre_commit_checks",
        "stage": "understand",
        "intent": "learn_which_checks_to_run_before_commit",
        "signals": {"user_raw_input": "Before I commit, what checks should I run?"},
    }
}


def paths(routing: KnowledgeRouting) -> list[str]:
    return [document.path for document in routing.documents]


def test_an_intent_to_plan_finds_the_documents_for_planning(example: KnowledgeBase) -> None:
    routing = route(example, intent=PLAN)
    assert paths(routing)[:2] == [POLICY, COMMANDS]
    first = routing.documents[0]
    assert first.reasons == (
        "scope `execution.quality_gates` and topic `pre_commit_checks`: as requested",
        "the situation fits `ensure`, `code`, `quality`, `commit`: Someone asks which checks to run before they "
        "commit, or wants to ensure code quality before a commit.",
        "for the stage `plan`",
    )
    assert first.doc_usage == "The checks, what each one is for, and which of them may be skipped."
    assert first.stage == ("understand", "plan")
    assert (routing.reported, routing.nothing) == ((), "")


def test_an_intent_to_understand_finds_the_documents_for_understanding(example: KnowledgeBase) -> None:
    routing = route(example, intent=UNDERSTAND)
    assert paths(routing)[0] == POLICY
    assert routing.documents[0].score > routing.documents[1].score, "the only one for this stage"
    assert "for the stage `understand`" in routing.documents[0].reasons
    assert not any("stage" in reason for reason in routing.documents[1].reasons)


def test_the_last_command_counts_less_than_the_text(example: KnowledgeBase) -> None:
    def ask(message: str, command: object) -> KnowledgeRouting:
        return route(example, intent={"intent": message, "signals": {"cli_command": command}})

    assert ask("it fails, why?", "make lunch") == ask("it fails, why?", None) == ask("it fails, why?", ["make"])
    by_command = ask("help", "make dev_check fails with a type error")
    message = ask("make dev_check fails with a type error", "")
    assert paths(by_command)[0] == paths(message)[0] == FAILING
    assert by_command.documents[0].score < message.documents[0].score
    assert (
        paths(ask("roll back the release", "make dev_check fails with a type error"))[0]
        == "docs/release/rollback.md"
    )


def test_an_intent_may_be_given_without_new_intent_around_it(example: KnowledgeBase) -> None:
    assert route(example, intent=PLAN["new_intent"]) == route(example, intent=PLAN)


@pytest.mark.parametrize(
    ("stage", "best"), [("plan", POLICY), ("act", COMMANDS), ("review", REVIEW), ("understand", POLICY)]
)
def test_documents_of_the_stage_rank_higher_but_others_are_offered(
    example: KnowledgeBase, stage: str, best: str
) -> None:
    intent = {"scope": "execution.quality_gates", "topic": "pre_commit_checks", "stage": stage, "intent": "help"}
    routing = route(example, intent=intent)
    assert paths(routing)[0] == best
    assert len(routing.documents) > 1


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("Before I commit, what checks should I run?", POLICY),
        ("make dev_check fails with a type error", FAILING),
        ("why is the build of my pull request red?", "docs/quality/reading_a_red_build.md"),
        ("How do I ship the new version to production?", "docs/release/deploy.md"),
        ("please roll back the release", "docs/release/rollback.md"),
        ("the rounding of taxes on an invoice is wrong", "docs/billing/invoices.md"),
        ("Run the full billing regression tests for me", "docs/billing/regression_suite.md"),
        ("let us split a service into two services", "docs/services/new_service.md"),
    ],
)
def test_a_text_without_an_intent_finds_documents_by_words(example: KnowledgeBase, text: str, best: str) -> None:
    routing = route(example, text=text)
    assert paths(routing)[0] == best
    assert 1 <= len(routing.documents) <= 5
    assert routing.nothing == ""
    assert all(0 < document.score <= 1 for document in routing.documents)
    assert all(document.reasons for document in routing.documents)


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of France?",
        "write a poem about the sea",
        "rename this variable",
        "the tests of the parser are slow",
        "change the colour of the button",
        "fix the typo in the header",
        "explain how the cache works",
        "I need a new laptop",
        "?!",
        "🦊",
        "the and of",
    ],
)
def test_words_about_something_else_find_nothing(example: KnowledgeBase, text: str) -> None:
    assert route(example, text=text) == KnowledgeRouting((), (), "none of the 6 topics fits the question")


def test_a_route_without_a_question_asks_for_one(example: KnowledgeBase) -> None:
    assert route(example) == KnowledgeRouting((), (), "give a text or an intent")
    assert route(example, text=" \n ") == route(example)


def test_the_situation_decides_between_routes_of_a_topic(example: KnowledgeBase) -> None:
    place = {"scope": "execution.quality_gates", "topic": "pre_commit_checks", "intent": "help"}
    assert paths(route(example, intent=place))[0] == POLICY
    failed = "make dev_check ended with an error"
    for intent, text in (
        ({**place, "intent": failed}, ""),
        ({**place, "signals": {"user_raw_input": failed}}, ""),
        (place, failed),
    ):
        assert paths(route(example, intent=intent, text=text))[0] == FAILING
    assert paths(route(example, intent=place, text="look over a commit before it is merged"))[0] == REVIEW


def test_documents_that_fit_much_less_than_the_best_are_left_out(example: KnowledgeBase) -> None:
    routing = route(
        example, text="ship version 2 to production", intent={"scope": "execution", "intent": "deploy"}
    )
    assert paths(routing) == ["docs/release/deploy.md", "docs/release/rollback.md"]


def test_a_scope_or_a_topic_alone_finds_its_documents(example: KnowledgeBase) -> None:
    routing = route(example, intent={"topic": "deploy", "intent": "roll_back"})
    assert paths(routing)[0] == "docs/release/rollback.md"
    assert routing.documents[0].reasons[0] == "topic `deploy`: as requested"
    routing = route(example, intent={"scope": "domain", "intent": "compare results of an earlier run"})
    assert paths(routing)[0] == "docs/billing/regression_suite.md"
    assert routing.documents[0].reasons[0] == "scope `domain.billing`: as requested"
    assert routing.reported == ()


@pytest.mark.parametrize(
    ("scope", "topic", "reported"),
    [
        (
            "execution.quality_gates",
            "Pre-commit check",
            "there is no topic `Pre-commit check` there; the nearest is `pre_commit_checks`",
        ),
        (
            "execution.quality-gate",
            "pre_commit_checks",
            "there is no scope `execution.quality-gate`; the nearest is `execution.quality_gates`",
        ),
        (
            "domain.billing",
            "pre_commit_checks",
            "the topic `pre_commit_checks` is in the scope `execution.quality_gates`",
        ),
        ("zzz", "pre_commit_checks", "there is no scope `zzz`"),
    ],
)
def test_the_nearest_scope_or_topic_is_used_and_reported(
    example: KnowledgeBase, scope: str, topic: str, reported: str
) -> None:
    routing = route(example, intent={"scope": scope, "topic": topic, "stage": "understand", "intent": "learn"})
    assert paths(routing)[0] == POLICY
    assert routing.reported == (reported,)
    assert routing.documents[0].reasons[0].endswith("the nearest match")
    exact = {"scope": "execution.quality_gates", "topic": "pre_commit_checks", "stage": "understand"}
    assert routing.documents[0].score < route(example, intent={**exact, "intent": "learn"}).documents[0].score


def test_an_unknown_topic_is_searched_for_by_words(example: KnowledgeBase) -> None:
    unknown = {"scope": "domain.billing", "topic": "zzz", "intent": "billing regression tests"}
    routing = route(example, intent=unknown)
    assert paths(routing)[0] == "docs/billing/regression_suite.md"
    assert routing.reported == ("there is no topic `zzz` there",)
    nothing = route(example, intent={**unknown, "intent": "poems"})
    assert nothing.documents == ()
    assert nothing.nothing == "none of the 6 topics fits the question"


def test_documents_that_hooks_suggest_rank_higher(example: KnowledgeBase) -> None:
    text = "Before I commit, what checks should I run?"
    before = route(example, text=text)
    assert paths(before)[0] != FAILING
    after = route(example, text=text, suggested=[{"path": f"/{FAILING}", "reason": "it failed\nlast time"}])
    assert paths(after)[0] == FAILING
    assert after.documents[0].reasons[-1] == "a hook suggests it: it failed last time"
    assert after.documents[0].doc_usage == "What each failure means and how it is usually fixed."
    assert set(paths(before)) <= set(paths(after))


def test_a_suggested_document_is_offered_without_a_question(example: KnowledgeBase) -> None:
    routing = route(example, suggested=[{"path": "docs/release/deploy.md", "reason": ""}])
    assert [(document.path, document.reasons, document.stage) for document in routing.documents] == [
        ("docs/release/deploy.md", ("a hook suggests it",), ("understand", "plan", "act"))
    ]


def test_a_suggested_path_may_begin_at_the_project_root(example: KnowledgeBase) -> None:
    """A hook runs in the project, and the routing root may be a directory of it."""
    through = [{"path": f"knowledge/{REVIEW}"}, {"path": str(example.root.absolute() / POLICY)}]
    routing = route(example, suggested=through)
    assert (paths(routing), routing.reported) == ([REVIEW, POLICY], ())


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("docs/gone.md", "a hook suggests `docs/gone.md`: there is no such file"),
        ("/etc/passwd", "a hook suggests `/etc/passwd`: there is no such file"),
        (
            "../../README.md",
            "a hook suggests a document whose path leaves the directory of ROUTING.md: `../../README.md`",
        ),
        (
            "docs/../../README.md",
            "a hook suggests a document whose path leaves the directory of ROUTING.md: `docs/../../README.md`",
        ),
        ("docs/quality", "a hook suggests `docs/quality`: it is a directory"),
    ],
)
def test_a_suggested_document_that_does_not_exist_is_reported_and_never_offered(
    example: KnowledgeBase, path: str, what: str
) -> None:
    routing = route(
        example, text="Before I commit, what checks should I run?", suggested=[{"path": path, "reason": "r"}]
    )
    assert routing.reported == (what,)
    assert routing.documents == route(example, text="Before I commit, what checks should I run?").documents
    alone = route(example, suggested=[{"path": path}])
    assert alone.nothing == "none of the 6 topics fits the question"


def test_suggested_documents_beyond_the_limit_are_ignored(example: KnowledgeBase) -> None:
    routing = route(example, suggested=[{"path": REVIEW}] * 50 + [{"path": POLICY}])
    assert paths(routing) == [REVIEW]
    assert routing.reported == ("hooks suggest 51 documents; only the first 50 are used",)


def test_a_link_is_not_followed_by_a_suggestion(write: Write, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    root = write({"ROUTING.md": "---\nroute_indexes: []\n---\n"})
    os.symlink(tmp_path / "secret.md", root / "link.md")
    routing = route(read_base(root), suggested=[{"path": "link.md"}])
    assert routing.documents == ()
    assert "symbolic link" in routing.reported[0]


def test_at_most_five_documents_are_offered(write: Write) -> None:
    many = [f"{number}.md" for number in range(8)]
    root = write({"ROUTING.md": "---\nroute_indexes: []\n---\n", **dict.fromkeys(many, "")})
    assert paths(route(read_base(root), suggested=[{"path": path} for path in many])) == many[:5]


@pytest.mark.parametrize(
    "intent",
    [
        {},
        {"scope": "a"},
        {"intent": 1},
        {"intent": "x", "stage": "dream"},
        {"new_intent": None},
        {"new_intent": []},
    ],
)
def test_an_invalid_intent_is_refused(example: KnowledgeBase, intent: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="not a valid intent"):
        route(example, intent=intent)


def test_an_invalid_suggestion_is_refused(example: KnowledgeBase) -> None:
    with pytest.raises(UsageError, match="not valid suggested documents"):
        route(example, suggested=[{"reason": "x"}])


def test_a_broken_route_file_hides_no_other(write: Write) -> None:
    root = write(
        {
            "ROUTING.md": """
        ---
        route_indexes:
          - {scope: a, topic: broken, summary: Whales and dolphins., route_file: /routes/broken.yaml}
          - {scope: a, topic: gone, summary: Sharks., route_file: /routes/gone.yaml}
          - {scope: a, topic: sound, summary: Penguins and seals., route_file: /routes/sound.yaml}
          - {scope: a}
        ---
        """,
            "routes/broken.yaml": "routes: []\nroutes: []\n",
            "routes/sound.yaml": """
        routes:
          - when_to_use: Someone asks about penguins.
            related_docs:
              - path: /docs/gone.md
              - path: ../../outside.md
              - path: /docs/penguins.md
        """,
            "docs/penguins.md": "# Penguins\n",
        }
    )
    routing = route(read_base(root), text="tell me about penguins")
    assert paths(routing) == ["docs/penguins.md"]
    assert routing.reported == (
        f"{root}/docs/gone.md: there is no such file",
        f"{root}/routes/broken.yaml:2: `routes` is given twice (keep one of them)",
        f"{root}/routes/gone.yaml: there is no such file",
        f"{root}/routes/sound.yaml has problems",
        f"{root}/ROUTING.md has problems",
        "`samuel knowledge lint` shows all of them",
    )
    named = route(read_base(root), intent={"scope": "a", "topic": "gone", "intent": "sharks"})
    assert named.nothing == "`gone` leads to no document that can be used"


def test_many_broken_route_files_are_summed_up_in_one_line(write: Write) -> None:
    entry = "  - {{scope: a, topic: t{0}, summary: s, route_file: /routes/{0:02}.yaml}}\n"
    root = write({"ROUTING.md": "---\nroute_indexes:\n" + "".join(entry.format(at) for at in range(12)) + "---\n"})
    routing = route(read_base(root), text="anything")
    assert routing.reported == (
        *(f"{root}/routes/{at:02}.yaml: there is no such file" for at in range(10)),
        "2 more route files cannot be used",
        "`samuel knowledge lint` shows all of them",
    )


def test_the_stages_of_a_document_count_where_the_route_has_none(write: Write) -> None:
    entry = "{scope: a, topic: t, summary: s, route_file: /r.yaml}"
    root = write(
        {
            "ROUTING.md": f"---\nroute_indexes: [{entry}]\n---\n",
            "r.yaml": "routes: [{when_to_use: w, related_docs: [{path: a.md}, {path: b.md}]}]\n",
            "a.md": "---\nstages: [plan]\n---\n",
            "b.md": "---\nstages: [review]\n---\n",
        }
    )
    routing = route(read_base(root), intent={"topic": "t", "stage": "review", "intent": "x"})
    assert [(document.path, document.stage) for document in routing.documents] == [
        ("b.md", ("review",)),
        ("a.md", ("plan",)),
    ]


def test_a_document_of_several_routes_is_offered_once_along_the_best(example: KnowledgeBase) -> None:
    routing = route(example, text="a pre-commit check failed and make dev_check ended with an error")
    assert paths(routing).count(COMMANDS) == 1
    (commands,) = (document for document in routing.documents if document.path == COMMANDS)
    assert commands.doc_usage == "How to run one check alone."


def test_the_same_question_gives_the_same_answer(example: KnowledgeBase) -> None:
    hints = [{"path": REVIEW, "reason": "r"}, {"path": "gone.md", "reason": "r"}]
    first = route(example, text="commit checks", intent=UNDERSTAND, suggested=hints)
    assert all(
        route(read_base(example.root), text="commit checks", intent=UNDERSTAND, suggested=hints) == first
        for _ in range(5)
    )


def test_a_text_of_a_megabyte_is_routed(example: KnowledgeBase) -> None:
    text = "Before I commit, what checks should I run?\n" + "x9 = call(b) # lorem ipsum\n" * 40_000
    assert len(text) > 1_000_000
    assert POLICY in paths(route(example, text=text))
