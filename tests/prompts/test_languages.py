from __future__ import annotations

import pytest

from samuel.prompts.languages import NEITHER, SOURCE, TEST, describe


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("src/app/queue.py", "tests/deep/test_queue.py"),
        ("queue.py", "queue_test.py"),
        ("src/view.ts", "src/view.test.ts"),
        ("src/view.tsx", "src/view.spec.ts"),
        ("src/view.ts", "src/__tests__/view.js"),
        ("lib/view.mjs", "test/view.js"),
        ("pkg/a/queue.go", "pkg/a/queue_test.go"),
        ("src/queue.rs", "tests/queue.rs"),
        ("src/queue.rs", "tests/test_queue.rs"),
        ("src/queue.rs", "src/queue/tests.rs"),
        ("src/main/java/Queue.java", "src/test/java/QueueTest.java"),
        ("Queue.java", "QueueTests.java"),
        ("Queue.java", "TestQueue.java"),
        ("Queue.java", "QueueIT.java"),
    ],
)
def test_a_test_names_what_it_tests(source: str, test: str) -> None:
    source_facts, test_facts = describe(source.encode()), describe(test.encode())
    assert (source_facts.role, test_facts.role) == (SOURCE, TEST)
    assert source_facts.subject == test_facts.subject


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("pkg/a/queue.go", "pkg/b/queue_test.go"),  # Go's tests lie beside
        ("queue.py", "queue.test.js"),
        ("queue.py", "tests/queue.py"),  # a helper
        ("queue.py", "test_queue_size.py"),
    ],
)
def test_it_is_the_test_of_something_else(source: str, test: str) -> None:
    test_facts = describe(test.encode())
    assert test_facts.role != TEST or describe(source.encode()).subject != test_facts.subject


@pytest.mark.parametrize(
    "path",
    [
        *(
            "src/__init__.py",
            "tests/conftest.py",
            "setup.py",
            "types.pyi",
            "src/index.ts",
            "x.d.ts",
            "vite.config.js",
        ),
        *("doc.go", "src/main.rs", "src/lib.rs", "package-info.java", "README.md", "Makefile", "tests/helpers.py"),
    ],
)
def test_nobody_misses_a_test_for_it(path: str) -> None:
    assert describe(path.encode()).role == NEITHER


def test_a_language_is_known_by_the_end_of_a_name() -> None:
    names = {"a.PY": "Python", "x/y.tsx": "TypeScript", "a.b.rs": "Rust", "py": "other", "a.unknown": "other"}
    assert {name: describe(name.encode()).language for name in names} == names
