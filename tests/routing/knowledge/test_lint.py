"""Everything that lint finds, on a base made wrong on purpose; and nothing on the example that ships."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.routing.knowledge.lint import lint
from samuel.routing.knowledge.model import KnowledgeBase
from samuel.routing.knowledge.reading import read_base

Write = Callable[[dict[str, str]], Path]

SOUND = {
    "ROUTING.md": """
    ---
    route_indexes:
      - scope: work.quality
        topic: checks
        summary: What to run.
        route_file: /routes/work.quality.checks.yaml
    ---
    """,
    "routes/work.quality.checks.yaml": """
    ---
    scope: work.quality
    topic: checks
    ---
    routes:
      - when_to_use: Before a commit.
        related_docs:
          - path: /docs/checks.md
            stage: [plan]
            doc_usage: The commands.
    """,
    "docs/checks.md": """
    ---
    id: checks
    doc_type: howto
    scope: work.quality
    topics: [checks]
    stages: [plan]
    summary: The commands.
    ---
    # Checks
    """,
}


def problems_in(root: Path) -> list[tuple[str, int, str, str]]:
    return [
        (os.path.relpath(problem.file, root), problem.line, problem.what, problem.hint)
        for problem in lint(read_base(root))
    ]


def test_the_example_knowledge_base_has_no_problems(example: KnowledgeBase) -> None:
    assert lint(example) == []


def test_a_valid_knowledge_base_has_no_problems(write: Write) -> None:
    assert problems_in(write(SOUND)) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(
            {
                "routes/work.quality.checks.yaml": "---\nscope: work\ntopic: check\n---\nroutes: []\n",
                "docs/checks.md": "",
            },
            [
                (
                    "routes/work.quality.checks.yaml",
                    2,
                    "its scope is `work`, and ROUTING.md has it under `work.quality`",
                    "make them the same",
                ),
                (
                    "routes/work.quality.checks.yaml",
                    3,
                    "its topic is `check`, and ROUTING.md has it under `checks`",
                    "make them the same",
                ),
            ],
            id="a route file of another topic",
        ),
        pytest.param(
            {"docs/checks.md": "---\nscope: work.release\ntopics: [deploy]\n---\n"},
            [
                (
                    "docs/checks.md",
                    2,
                    "its scope is `work.release`, and the routes to it are of `work.quality`",
                    "make them the same",
                ),
                (
                    "docs/checks.md",
                    3,
                    "its topics leave out that of the routes to it: `checks`",
                    "add it to `topics`",
                ),
            ],
            id="a document of another topic",
        ),
        pytest.param(
            {"docs/checks.md": "---\nscope: work\nstages: [planing]\nsumary: x\n---\n"},
            [
                ("docs/checks.md", 3, "`planing` is not a stage", "did you mean `plan`?"),
                ("docs/checks.md", 4, "unknown key `sumary`", "did you mean `summary`?"),
            ],
            id="a wider scope is fine, a wrong stage and a mistyped key are not",
        ),
        pytest.param(
            {
                "docs/more.md": "---\ndoc_type: howto\n---\n",
                "docs/plain.md": "# No knowledge\n",
                "README.md": "# R\n",
            },
            [
                (
                    "docs/more.md",
                    1,
                    "no route names this document",
                    "add it to `related_docs` of a route, or remove `doc_type`",
                )
            ],
            id="a document that no route names",
        ),
        pytest.param(
            {"routes/old.yaml": "routes: []\n", "config/other.yaml": "a: 1\n"},
            [
                (
                    "routes/old.yaml",
                    0,
                    "no index of ROUTING.md names this route file",
                    "add it to `route_indexes` in ROUTING.md, or remove it",
                )
            ],
            id="a route file that no index names",
        ),
        pytest.param(
            {
                "sub/ROUTING.md": "",
                "sub/a.md": "---\ndoc_type: x\n---\n",
                ".hidden/a.md": "---\ndoc_type: x\n---\n",
                "node_modules/a.md": "---\ndoc_type: x\n---\n",
            },
            [],
            id="another base, hidden directories and those of others are not looked at",
        ),
        pytest.param(
            {"routes/work.quality.checks.yaml": "routes: []\nroutes: []\n", "docs/checks.md": ""},
            [("routes/work.quality.checks.yaml", 2, "`routes` is given twice", "keep one of them")],
            id="a broken route file",
        ),
    ],
)
def test_every_kind_of_problem_is_reported_with_file_and_line(
    write: Write, changed: dict[str, str], expected: list[tuple[str, int, str, str]]
) -> None:
    assert problems_in(write(SOUND | changed)) == expected


def test_missing_route_files_and_documents_are_reported(write: Write) -> None:
    root = write(SOUND)
    os.symlink(root / "docs/checks.md", root / "docs/link.md")
    write(
        {
            "ROUTING.md": """
        ---
        route_indexes:
          - scope: work.quality
            topic: checks
            summary: What to run.
            route_file: /routes/work.quality.checks.yaml
          - scope: work.quality
            topic: gone
            summary: Gone.
            route_file: /routes/gone.yaml
          - scope: work.quality
            topic: checks
            summary: Again.
            route_file: /routes/work.quality.checks.yaml
        ---
        """,
            "routes/work.quality.checks.yaml": """
        routes:
          - related_docs:
              - path: /docs/checks.md
              - path: /docs/cheks.md
              - path: beside.md
              - path: /quite/another.txt
              - path: ../outside.md
              - path: /docs/link.md
        """,
            "routes/beside.md": "",
        }
    )
    assert problems_in(root) == [
        ("ROUTING.md", 11, "`work.quality` and `checks` are already in line 3", "join their route files"),
        ("ROUTING.md", 7, "the route file `routes/gone.yaml` cannot be used: there is no such file", ""),
        ("routes/work.quality.checks.yaml", 2, "`when_to_use` is missing", "add `when_to_use: ...`"),
        (
            "routes/work.quality.checks.yaml",
            7,
            "`path` leaves the directory of ROUTING.md: `../outside.md`",
            "write it from there: `/docs/name.md`",
        ),
        (
            "routes/work.quality.checks.yaml",
            4,
            "the document `docs/cheks.md` cannot be used: there is no such file",
            "did you mean `/docs/checks.md`?",
        ),
        (
            "routes/work.quality.checks.yaml",
            5,
            "the document `beside.md` cannot be used: there is no such file",
            "paths are from the directory of ROUTING.md: write `/routes/beside.md`",
        ),
        (
            "routes/work.quality.checks.yaml",
            6,
            "the document `quite/another.txt` cannot be used: there is no such file",
            "write it, or remove the entry",
        ),
        (
            "routes/work.quality.checks.yaml",
            8,
            f"the document `docs/link.md` cannot be used: `{root}/docs/link.md` is a symbolic link",
            "replace it with a real file or directory",
        ),
    ]


def test_a_document_needs_to_agree_with_only_one_of_its_routes(write: Write) -> None:
    other = "      - {scope: other, topic: thing, summary: s, route_file: /routes/other.yaml}\n"
    shared = SOUND | {
        "ROUTING.md": SOUND["ROUTING.md"].replace("route_indexes:\n", f"route_indexes:\n{other}"),
        "routes/other.yaml": "routes: [{when_to_use: w, related_docs: [{path: /docs/checks.md}]}]\n",
    }
    assert problems_in(write(shared)) == []


@pytest.mark.slow
def test_a_knowledge_base_with_too_many_files_is_reported(write: Write) -> None:
    root = write(SOUND)
    many = root / "many"
    many.mkdir()
    for at in range(20_001):
        (many / f"{at}").touch()
    (problem,) = lint(read_base(root))
    assert "more than 20000 files" in problem.what


def test_only_the_first_problems_get_spelling_hints(write: Write) -> None:
    route = SOUND["routes/work.quality.checks.yaml"].rstrip() + "\n"
    missing = "".join(f"      - path: /docs/check{at}.md\n    " for at in range(30))
    root = write({**SOUND, "routes/work.quality.checks.yaml": f"{route}    {missing.rstrip()}\n"})
    problems = problems_in(root)
    assert len(problems) == 30
    assert sum(hint == "did you mean `/docs/checks.md`?" for *_, hint in problems) == 20
