"""Anything at all in the files, the intents and the prompts: no traceback, no hang, and nothing from outside."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samuel.base.errors import SamuelError, UsageError
from samuel.routing.knowledge.lint import lint
from samuel.routing.knowledge.model import STAGES, KnowledgeBase
from samuel.routing.knowledge.reading import read_base
from samuel.routing.knowledge.route import route
from samuel.routing.knowledge.values import from_root

WORDS = st.sampled_from(
    [
        "route_indexes:",
        "routes:",
        "related_docs:",
        "when_to_use: x",
        "path: /docs/a.md",
        "path: ../../../etc/passwd",
        "stage: [plan]",
        "scope: a",
        "topic: b",
        "summary: the docs",
        "route_file: /routes/a.yaml",
        "---",
        "```yaml",
        "```",
        "- ",
        "  ",
        "\n",
        "\t",
        ": ",
        "[",
        "{",
        "&a",
        "*a",
        "!!python/object:os.system",
        "'",
        '"\\e[31m',
        "\ufeff",
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=8), max_size=40).map("".join)
NAMES = st.text(max_size=20) | st.sampled_from(
    ["execution", "execution.quality_gates", "pre_commit_checks", "/etc"]
)
INTENTS = st.fixed_dictionaries(
    {"intent": NAMES},
    optional={
        "scope": NAMES,
        "topic": NAMES,
        "stage": st.sampled_from(STAGES),
        "signals": st.dictionaries(st.sampled_from(["user_raw_input", "x"]), st.text(max_size=30) | st.integers()),
    },
)
ROOTED = st.text(max_size=12) | st.lists(st.sampled_from(["..", ".", "", "/", "docs", "a.md", "~"])).map("/".join)


def write_file(folder: str, name: str, text: str) -> None:
    path = Path(folder, name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode(errors="surrogatepass"))


@given(TEXTS, TEXTS, TEXTS)
def test_any_files_are_read_and_routed_without_an_exception(routing: str, routes: str, document: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_file(folder, "ROUTING.md", routing)
        write_file(folder, "routes/a.yaml", routes)
        write_file(folder, "docs/a.md", document)
        try:
            base = read_base(Path(folder))
        except SamuelError:
            return
        lint(base)
        route(base, text="the docs of a, b and x")


@given(TEXTS, TEXTS)
def test_any_route_file_is_read_without_an_exception(routes: str, document: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        entry = "{scope: a, topic: b, summary: the docs, route_file: /routes/a.yaml}"
        write_file(folder, "ROUTING.md", f"---\nroute_indexes: [{entry}]\n---\n")
        write_file(folder, "routes/a.yaml", routes)
        write_file(folder, "docs/a.md", document)
        base = read_base(Path(folder))
        assert len(base.indexes) == 1
        lint(base)
        routing = route(base, intent={"scope": "a", "topic": "b", "intent": "x"})
        assert all(from_root(routed.path) == routed.path for routed in routing.documents)
        assert bool(routing.documents) != bool(routing.nothing)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200), st.none() | INTENTS, st.lists(st.fixed_dictionaries({"path": ROOTED}), max_size=3))
def test_any_question_is_routed_without_an_exception(
    example: KnowledgeBase, text: str, intent: dict[str, Any] | None, suggested: list[dict[str, str]]
) -> None:
    routing = route(example, text=text, intent=intent, suggested=suggested)
    assert routing == route(example, text=text, intent=intent, suggested=suggested)
    assert len(routing.documents) <= 5
    assert bool(routing.documents) != bool(routing.nothing)
    for routed in routing.documents:
        real = os.path.realpath(example.root / routed.path)
        assert real.startswith(os.path.realpath(example.root) + "/")
        assert os.path.isfile(real)
        assert 0 < routed.score <= 1
        assert routed.reasons
    assert all(line.isprintable() for line in routing.reported)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.recursive(st.none() | st.booleans() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_any_intent_is_routed_or_refused(example: KnowledgeBase, intent: Any) -> None:
    with suppress(UsageError):
        route(example, intent=intent)


@given(ROOTED)
def test_any_path_stays_inside_or_is_refused(path: str) -> None:
    try:
        relative = from_root(path)
    except ValueError:
        return
    normal = os.path.normpath(f"/place/{relative}")
    assert normal == f"/place/{relative}"
    assert normal.startswith("/place/")
