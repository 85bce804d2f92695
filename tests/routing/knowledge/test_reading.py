"""ROUTING.md, route files and documents: every form that is taken, and what is refused with its line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.routing.knowledge.model import STAGES, RelatedDoc, Route, TopicEntry
from samuel.routing.knowledge.reading import (
    MOST_DOCS,
    MOST_ROUTES,
    MOST_TOPICS,
    find_root,
    read_base,
    read_document,
    read_routes,
)
from samuel.routing.knowledge.values import from_root

Write = Callable[[dict[str, str]], Path]

LIST = """\
route_indexes:
  - scope: a.b
    topic: c
    summary: What there is to say.
    route_file: /routes/a.b.c.yaml
"""
INDEX = ("a.b", "c", "What there is to say.", "routes/a.b.c.yaml")


def shortened(problems: tuple[Problem, ...]) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.what, problem.hint) for problem in problems]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"---\n{LIST}---\n# Routing\n", 3),
        (f"\ufeff---\ntitle: Routing\n{LIST}---\n", 4),
        (f"# Routing\n\n```yaml\n{LIST}```\n", 5),
        (f"---\ntitle: Routing\n---\n\n~~~~ yml\n{LIST}~~~~\nMore.\n", 7),
        (f"```sh\nroute_indexes:\n```\n```yaml\nother: 1\n```\n```yaml\n{LIST}", 9),
        (f"---\n{LIST}---\n".replace("\n", "\r\n"), 3),
    ],
)
def test_the_list_of_topics_is_in_the_front_matter_or_in_a_yaml_block(write: Write, text: str, line: int) -> None:
    root = write({"README.md": ""})
    (root / "ROUTING.md").write_bytes(text.encode())
    base = read_base(root)
    assert base.indexes == (TopicEntry(*INDEX, line),)
    assert base.problems == ()


@pytest.mark.parametrize("text", ["", "# Nothing\n", "---\nroutes: []\n---\n", "route_indexes: []\n"])
def test_routing_md_without_the_list_is_refused_with_an_example(write: Write, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_base(write({"ROUTING.md": text}))
    assert "no `route_indexes`" in caught.value.problems[0].what
    assert "```yaml" in caught.value.problems[0].hint


def test_a_directory_without_routing_md_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SamuelError, match=r"there is no ROUTING\.md"):
        read_base(tmp_path)


def test_a_second_list_of_topics_is_a_problem(write: Write) -> None:
    base = read_base(write({"ROUTING.md": f"---\n{LIST}---\n```yaml\n{LIST}```\n"}))
    assert len(base.indexes) == 1
    assert shortened(base.problems) == [(9, "a second `route_indexes` is not read", "join the lists")]


def test_a_wrong_topic_entry_does_not_hide_the_others(write: Write) -> None:
    base = read_base(
        write(
            {
                "ROUTING.md": """
            ---
            route_indexes:
              - scope: a
                topic: b
                sumary: mistyped
                route_file: /routes/a.b.yaml
              - just words
              - scope: 1
                topic: b
                summary: s
                route_file: ../../etc/passwd
              - scope: a
                topic: " "
                summary: s
              - scope: a
                topic: c
                summary: s
                route_file: routes/a.c.yaml
            ---
            """
            }
        )
    )
    assert [(index.topic, index.route_file) for index in base.indexes] == [
        ("b", "routes/a.b.yaml"),
        ("c", "routes/a.c.yaml"),
    ]
    assert shortened(base.problems) == [
        (3, "`summary` is missing", "add `summary: ...`"),
        (5, "unknown key `sumary`", "did you mean `summary`?"),
        (7, "an entry of `route_indexes` must be a mapping, not text", ""),
        (8, "`scope` must be text, not a number", "put it in quotes"),
        (
            11,
            "`route_file` leaves the directory of ROUTING.md: `../../etc/passwd`",
            "write it from there: `/docs/name.md`",
        ),
        (12, "`route_file` is missing", "add `route_file: ...`"),
        (13, "`topic` is empty", ""),
    ]
    assert {problem.file for problem in base.problems} == {str(base.root / "ROUTING.md")}


def test_topics_beyond_the_limit_are_left_out_with_a_problem(write: Write) -> None:
    entry = "  - {{scope: s, topic: t{}, summary: s, route_file: /r.yaml}}\n"
    base = read_base(
        write(
            {
                "ROUTING.md": "---\nroute_indexes:\n"
                + "".join(entry.format(at) for at in range(MOST_TOPICS + 3))
                + "---\n"
            }
        )
    )
    assert len(base.indexes) == MOST_TOPICS
    assert [(problem.line, problem.hint) for problem in base.problems] == [(MOST_TOPICS + 3, "split the file")]


def test_routing_md_is_searched_in_the_root_then_knowledge_then_docs(write: Write, tmp_path: Path) -> None:
    assert find_root(tmp_path) is None
    root = write({"docs/ROUTING.md": ""})
    assert find_root(root) == root / "docs"
    write({"knowledge/ROUTING.md": ""})
    assert find_root(root) == root / "knowledge"
    write({"ROUTING.md": ""})
    assert find_root(root) == root


ROUTES = """\
routes:
  - when_to_use: >
      Something
      happened.
    related_docs:
      - path: /docs/a.md
        stage: [plan, act]
        doc_usage: Read it.
      - {path: docs/b.md, stage: review}
"""


@pytest.mark.parametrize(
    ("head", "first"),
    [
        ("---\nscope: a.b\ntopic: c\n---\n", 5),
        ("scope: a.b\ntopic: c\n---\n", 4),
        ("scope: a.b\ntopic: c\n", 3),
        ("---\nid: x\ndoc_type: route\nscope: a.b\ntopic: c\nsummary: s\n---\n", 8),
    ],
)
def test_a_route_file_is_one_document_or_two(write: Write, head: str, first: int) -> None:
    file = read_routes(write({"routes/a.b.c.yaml": head + ROUTES}), "routes/a.b.c.yaml")
    assert file.problems == ()
    assert (file.scope, file.topic, file.readable) == ("a.b", "c", True)
    assert file.routes == (
        Route(
            "Something happened.",
            (
                RelatedDoc("docs/a.md", ("plan", "act"), "Read it.", first + 5),
                RelatedDoc("docs/b.md", ("review",), "", first + 8),
            ),
            first + 1,
        ),
    )


def test_every_problem_of_a_route_file_has_its_line(write: Write) -> None:
    root = write(
        {
            "r.yaml": """
        scope: a
        topics: [b]
        ---
        routes:
          - when_to_use: ""
            related_docs:
              - path: /docs/a.md
                stage: [planning, act]
                usage: no
              - doc_usage: none
          - when_to_use: No documents.
          - when_to_use: One text is no list.
            related_docs: /docs/a.md
        """
        }
    )
    file = read_routes(root, "r.yaml")
    assert [(route.when_to_use, [doc.path for doc in route.related_docs]) for route in file.routes] == [
        ("", ["docs/a.md"])
    ]
    assert shortened(file.problems) == [
        (2, "unknown key `topics`", "did you mean `topic`?"),
        (5, "`when_to_use` is empty", ""),
        (8, "`planning` is not a stage", "did you mean `plan`?"),
        (9, "unknown key `usage`", "did you mean `doc_usage`?"),
        (10, "`path` is missing", "add `path: ...`"),
        (11, "this route leads to no document", "add `related_docs:` with a `path`"),
        (12, "this route leads to no document", "add `related_docs:` with a `path`"),
        (13, "`related_docs` must be a list, not text", "begin each entry of `related_docs` with `- `"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: &a [1]\nb: *a\n", 1, "anchors"),
        ("scope: a\n---\nroutes: []\n---\nmore: 1\n", 4, "more than 2 documents"),
        ("routes:\n\t- when_to_use: x\n", 2, "a tab"),
        ("routes: [\n", 1, "not valid YAML"),
        ("- a\n- b\n", 1, "not a mapping"),
        ("scope: a\n", 1, "`routes` is missing"),
        ("scope: a\nscope: b\n", 2, "given twice"),
    ],
)
def test_a_broken_route_file_has_no_routes_and_says_why(write: Write, text: str, line: int, what: str) -> None:
    file = read_routes(write({"r.yaml": text}), "r.yaml")
    assert file.routes == ()
    assert file.readable
    assert [problem.line for problem in file.problems] == [line]
    assert what in file.problems[0].what


def test_routes_beyond_the_limit_are_left_out_with_a_problem(write: Write) -> None:
    entry = "  - {{when_to_use: w{}, related_docs: [{{path: a.md}}]}}\n"
    text = "routes:\n" + "".join(entry.format(at) for at in range(MOST_ROUTES + 1))
    file = read_routes(write({"r.yaml": text}), "r.yaml")
    assert len(file.routes) == MOST_ROUTES
    assert [problem.line for problem in file.problems] == [MOST_ROUTES + 2]
    text = "routes:\n- when_to_use: w\n  related_docs:\n" + "  - path: a.md\n" * (MOST_DOCS + 1)
    file = read_routes(write({"r.yaml": text}), "r.yaml")
    assert len(file.routes[0].related_docs) == MOST_DOCS
    assert [problem.line for problem in file.problems] == [MOST_DOCS + 4]


def test_the_front_matter_of_a_document_is_read(write: Write) -> None:
    root = write(
        {
            "a.md": """
        ---
        id: the.id
        doc_type: howto
        scope: a.b
        topics: [c, d]
        stages: [plan, dream]
        summary: >
          Two
          lines.
        owner: somebody
        tags: [x]
        stage: [act]
        ---
        # Title
        """
        }
    )
    document = read_document(root, "a.md")
    assert document[:7] == ("a.md", "the.id", "howto", "a.b", ("c", "d"), ("plan",), "Two lines.")
    assert shortened(document.problems) == [
        (6, "`dream` is not a stage", f"one of {', '.join(STAGES)}"),
        (12, "unknown key `stage`", "did you mean `stages`?"),
    ]


def test_a_document_needs_no_front_matter_and_may_have_a_broken_one(write: Write) -> None:
    root = write({"plain.md": "# Words\n", "broken.md": "---\n[\n---\n", "picture.svg": "<svg/>"})
    assert read_document(root, "plain.md") == read_document(root, "picture.svg")._replace(path="plain.md")
    broken = read_document(root, "broken.md")
    assert broken.readable
    assert broken.problems[0].what.startswith("not valid YAML")


@pytest.mark.parametrize("path", ["/docs/a.md", "docs/a.md", "./docs/a.md"])
def test_paths_are_from_the_routing_root(path: str) -> None:
    assert from_root(path) == "docs/a.md"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "..",
        "../a.md",
        "/../a.md",
        "docs/../../a.md",
        "docs/../a.md",
        "//etc/passwd",
        "docs//a.md",
        "docs/",
        "docs/./a.md",
        "https://example.com/a.md",
        "a\0.md",
        "a\n.md",
        "\x1b[31m.md",
        "\ud800.md",
    ],
)
def test_paths_out_of_the_routing_root_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"^(is|leaves) "):
        from_root(path)


@pytest.mark.parametrize("name", ["file.md", "directory/file.md", "inside.md"])
def test_links_to_route_files_and_documents_are_not_followed(write: Write, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.md").write_text("---\nsummary: secret\n---\n")
    root = write({"docs/real.md": "---\nsummary: fine\n---\n"})
    os.symlink(outside / "file.md", root / "file.md")
    os.symlink(outside, root / "directory")
    os.symlink(root / "docs/real.md", root / "inside.md")
    document = read_document(root, name)
    assert (document.readable, document.summary) == (False, "")
    assert "symbolic link" in document.problems[0].what
    assert read_document(root, "docs/real.md").summary == "fine"


@pytest.mark.parametrize(
    "name", ["pipe.md", "pipe.txt", "directory.md", "missing.md", "x" * 300 + ".md", "a.md/b.md"]
)
def test_a_directory_or_a_pipe_is_not_a_document(write: Write, name: str) -> None:
    root = write({"directory.md/x": "", "a.md": ""})
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "pipe.txt")
    document = read_document(root, name)
    assert not document.readable
    assert len(document.problems) == 1


def test_route_files_and_documents_that_are_too_large_are_refused(write: Write) -> None:
    root = write({"a.md": "x" * 1_100_000, "r.yaml": "#" * 300_000})
    assert "larger than" in read_document(root, "a.md").problems[0].what
    assert "larger than" in read_routes(root, "r.yaml").problems[0].what
    (root / "ROUTING.md").write_text("#" * 600_000)
    with pytest.raises(ConfigError, match="larger than"):
        read_base(root)


def test_problems_have_no_control_characters(write: Write) -> None:
    entry = '{scope: "a\\e[2J", topic: t, summary: "\\e]0;x\\a", route_file: /r}'
    root = write({"ROUTING.md": f"---\nroute_indexes: [{entry}]\n---\n"})
    index = read_base(root).indexes[0]
    assert (index.scope, index.summary) == ("a\\x1b[2J", "\\x1b]0;x\\x07")
