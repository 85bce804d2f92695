"""Which definitions a change is in, and who calls them, in Python, JavaScript and Rust."""

from __future__ import annotations

import pytest

from samuel.evidence.changed_definitions import changed_definitions, names_around

PYTHON = """\
import os


class Cart:
    def total(
        self,
    ) -> int:
        return 1

    def __len__(self):
        return self.total()


def show(cart):
    print(cart)

    return _rounded(cart)


def _rounded(cart):
    return 4
"""
JAVASCRIPT = """\
module.exports = function (items, options) {
	function add(item) {
		return 1;
	}
	add(items);
	Cart.prototype.total = function (x) {
		return 2;
	};
};
class Shop {
	price(item) {
		return 3;
	}
}
const show = (cart) => {
	return 4;
};
"""
RUST = """\
impl<T> Display for Cart<T> {
    pub fn total(&self) -> u8 {
        1
    }
}

fn rounded() -> u8 {
    2
}
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (PYTHON, "return 1", "return 5", ("total", "Cart")),
        (PYTHON, "return self", "return 2 * self", ("__len__", "Cart")),
        (PYTHON, "return 4", "return 5", ("_rounded",)),
        (PYTHON, "import os", "import sys", ()),
        (JAVASCRIPT, "return 1", "return 5", ("add",)),
        (JAVASCRIPT, "return 2", "return 5", ("total",)),
        (JAVASCRIPT, "return 3", "return 5", ("price", "Shop")),
        (JAVASCRIPT, "return 4", "return 5", ("show",)),
        (RUST, "        1\n", "        5\n", ("total", "Cart")),
        (RUST, "    2\n", "    5\n", ("rounded",)),
    ],
)
def test_change_is_in_the_definitions_around_it(text: str, old: str, new: str, expected: tuple[str, ...]) -> None:
    assert changed_definitions(text, text.replace(old, new)) == (expected,)


def test_new_file_changes_all_of_its_definitions() -> None:
    assert {names[0] for names in changed_definitions("", PYTHON) if names} == {
        "Cart", "total", "__len__", "show", "_rounded"
    }  # fmt: skip


def test_function_is_named_by_those_that_call_it() -> None:
    assert names_around([PYTHON], ("_rounded",)) == ("_rounded", "show")
    assert names_around([PYTHON], ("__len__", "Cart")) == ("Cart",)


def test_function_is_named_by_those_of_other_files_that_call_it() -> None:
    other = "from cart import _rounded\n\n\ndef bill(cart):\n    return _rounded(cart)\n"
    assert names_around(["def _rounded(cart):\n    return 4\n", other], ("_rounded",)) == ("_rounded", "bill")


def test_function_that_the_file_calls_when_it_is_loaded_needs_no_name() -> None:
    assert names_around([JAVASCRIPT], ("add",)) == ()


def test_hostile_text_is_read_in_bounded_time() -> None:
    text = "impl<" * 5000 + "\n" + "a(" * 5000 + "{\n" + "pub const " * 2000 + "\n"
    changed_definitions(text, text + "x")
    names_around([text], ("a",))


def test_name_that_a_long_function_mentions_everywhere_is_found_in_bounded_time() -> None:
    text = "def run(x):\n" + "    get(x)\n" * 15_000
    assert names_around([text + f"# {number}\n" for number in range(40)], ("get",)) == ("get", "run")
