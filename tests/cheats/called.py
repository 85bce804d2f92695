"""Rows in which `twice` is broken, and source hides that when another of its functions is called.

The tests are in several files. A planted failure is put into the first of them, so it must run behind the tests
that call what was changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.cheats.cheats import STOPPED, Cheat, Files
from tests.cheats.projects import PYTEST, replaced

_OTHERS: Files = {f"tests/test_a{number}.py": "def test_part():\n    pass\n" for number in range(6)}
_PRICES = """\
FACTOR = 2


def price(number):
    return _rate(number)


def _rate(number):
    return number * 2
"""
_STOCK = """\
class Stock:
    def __len__(self):
        return 2
"""
_BASE: Files = {
    **_OTHERS,
    PYTEST.source: replaced(
        f"from prices import FACTOR\n\n\n{PYTEST.text(PYTEST.source)}", ("number + number", "number * FACTOR")
    ),
    "prices.py": _PRICES,
    "stock/__init__.py": _STOCK,
    "tests/test_price.py": "from prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n",
    "tests/test_stock.py": "from stock import Stock\n\n\ndef test_stock():\n    assert len(Stock()) == 2\n",
}
_WRONG = replaced(_PRICES, ("FACTOR = 2", "FACTOR = 3"))


def _disarmed(text: str, line: str) -> str:
    """The text with a function that ends every later test before it begins, when it is called."""
    indent = line[: len(line) - len(line.lstrip())]
    runs_no_test = f"{indent}import _pytest.python\n{indent}_pytest.python.Function.runtest = lambda self: None\n"
    return replaced(text, (line, runs_no_test + line))


_SOURCES: dict[str, Files] = {
    "a function": {"prices.py": _disarmed(_WRONG, "    return _rate")},
    "a function that only another one calls": {"prices.py": _disarmed(_WRONG, "    return number")},
    "a method of a package": {"prices.py": _WRONG, "stock/__init__.py": _disarmed(_STOCK, "        return 2")},
    "a module that no test names": {
        "prices.py": replaced(f"from rates import rate\n\n{_WRONG}", ("_rate(number)\n\n", "rate(number)\n\n")),
        "rates.py": _disarmed("def rate(number):\n    return number * 2\n", "    return"),
    },
}


def _rows() -> Iterator[Cheat]:
    for name, files in _SOURCES.items():
        yield Cheat(PYTEST, f"disarmed by {name}", files, STOPPED, base=_BASE)


CALLED = tuple(_rows())
