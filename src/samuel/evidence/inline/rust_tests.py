"""The tests inside a Rust file: one version of the file with the tests of another.

Tests are the items that are compiled for tests only (`#[cfg(test)]`, `#[test]` and the like) and the examples in
documentation. An item takes the place of the one with its name; one without a counterpart comes behind the item
that it follows in its own file, because macros must be defined before they are used. Examples of an item that the
other version does not have are put at a constant at the end, so that they run there as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samuel.evidence.inline.rust_syntax import RustItem, RustScope, rust_scope

# Documentation of some kind stays: a crate may forbid items without it.
_NO_EXAMPLES = "/// Its examples are left out.\n"


@dataclass
class _Edits:
    """Changes of a text, by byte offsets."""

    changes: list[tuple[int, int, str]] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    """Documentation with examples that has no place in the text."""

    def replace(self, start: int, end: int, text: str) -> None:
        self.changes.append((start, end, text))

    def apply(self, text: str) -> str:
        source = text.encode("utf-8", "surrogatepass")
        parts: list[bytes] = []
        position = 0
        # Insertions at one place stay in their order, and come before what is replaced there.
        for start, end, new in sorted(self.changes, key=lambda change: (change[0], change[1] > change[0])):
            parts += (source[position : max(start, position)], new.encode("utf-8", "surrogatepass"))
            position = max(end, position)
        return b"".join((*parts, source[position:])).decode("utf-8", "surrogatepass")


def rust_with_tests(code: str, tests: str) -> str | None:
    """The file `code` with the tests of the file `tests`; None without tests, or if one is not understood."""
    if (code_scope := rust_scope(code)) is None or (tests_scope := rust_scope(tests)) is None:
        return None
    if not _has_tests(code_scope) and not _has_tests(tests_scope):
        return None
    edits = _Edits()
    _scope_edits(code_scope, tests_scope, edits)
    text = edits.apply(code)
    for number, docs in enumerate(edits.examples, 1):
        text = f"{text.rstrip()}\n\n{docs}#[allow(dead_code)]\nconst SAMUEL_EXAMPLES_{number}: () = ();\n"
    return text


def _has_tests(scope: RustScope) -> bool:
    return scope.has_examples or any(
        item.is_test or item.has_examples or (item.scope is not None and _has_tests(item.scope))
        for item in scope.items
    )


def _scope_edits(code: RustScope, tests: RustScope, edits: _Edits) -> None:
    if code.docs_text != tests.docs_text and (code.has_examples or tests.has_examples):
        _replace_docs(code.docs, tests.docs_text, code.start, edits)
    test_items = {item.key: item for item in tests.items if item.is_test}
    code_tests = {item.key: item for item in code.items if item.is_test}
    plain = {item.key: item for item in code.items if not item.is_test}
    for key, item in code_tests.items():
        if key not in test_items:
            edits.replace(item.start, item.end, "")
        elif item.text != test_items[key].text:
            edits.replace(item.start, item.end, test_items[key].text)
    for at, item in enumerate(tests.items):
        counterpart = plain.get(item.key)
        if item.is_test:
            if item.key in code_tests:
                continue
            if counterpart is not None and not counterpart.is_left_out_of_tests:
                # The same name with another `cfg`, or none: both together might not compile.
                edits.replace(counterpart.start, counterpart.end, item.text)
            else:
                edits.replace(*_place(code, tests, at, code_tests | plain), f"\n\n{item.text}\n")
        elif counterpart is None:
            _keep_orphan(item, _place(code, tests, at, code_tests | plain), edits)
        else:
            _item_edits(counterpart, item, edits)
    names = {item.key for item in tests.items}
    for item in plain.values():
        if item.key not in names:
            _remove_tests(item, edits)


def _remove_tests(item: RustItem, edits: _Edits) -> None:
    """Tests in an item that only the code has are no tests of the other version."""
    if item.has_examples:
        _replace_docs(item.docs, _NO_EXAMPLES, item.start, edits)
    if item.scope is not None:
        _scope_edits(item.scope, RustScope(), edits)


def _item_edits(code: RustItem, tests: RustItem, edits: _Edits) -> None:
    """Edits of an item that both versions have, and that is no test."""
    if code.docs_text != tests.docs_text and (code.has_examples or tests.has_examples):
        _replace_docs(code.docs, tests.docs_text, code.start, edits)
    if code.scope is not None and tests.scope is not None:
        _scope_edits(code.scope, tests.scope, edits)
    elif tests.scope is not None:
        _collect_examples(tests.scope, edits)


def _keep_orphan(item: RustItem, place: tuple[int, int], edits: _Edits) -> None:
    """The tests in an item that the code does not have."""
    if item.has_examples:
        edits.examples.append(item.docs_text)
    if item.scope is None:
        return
    _collect_examples(item.scope, edits)
    inner = [child.text for child in item.scope.items if child.is_test]
    if inner:
        body = "\n\n".join(inner)
        edits.replace(*place, f"\n\n{item.head}{{\n{body}\n}}\n")


def _collect_examples(scope: RustScope, edits: _Edits) -> None:
    for item in scope.items:
        if not item.is_test and item.has_examples:
            edits.examples.append(item.docs_text)


def _place(
    code: RustScope, tests: RustScope, at: int, in_code: dict[tuple[str, str, int], RustItem]
) -> tuple[int, int]:
    """Behind the nearest item before this one that the code has as well; else where the first item could stand."""
    for item in reversed(tests.items[:at]):
        if (neighbour := in_code.get(item.key)) is not None:
            return neighbour.end, neighbour.end
    return code.start, code.start


def _replace_docs(spans: tuple[tuple[int, int], ...], text: str, start: int, edits: _Edits) -> None:
    if not spans:
        edits.replace(start, start, text)
        return
    edits.replace(*spans[0], text)
    for span in spans[1:]:
        edits.replace(*span, "")
