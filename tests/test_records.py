"""Records are dataclasses to everything but the clock."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

from samuel import records


@records.dataclass(frozen=True)
class Record:
    name: str
    count: int = 3
    values: Mapping[str, int] = records.field(default_factory=dict)
    line: int = records.field(default=0, compare=False)

    @property
    def double(self) -> int:
        return 2 * self.count


@dataclasses.dataclass(frozen=True)
class Real:
    name: str
    count: int = 3
    values: Mapping[str, int] = dataclasses.field(default_factory=dict)
    line: int = dataclasses.field(default=0, compare=False)


@records.dataclass(frozen=True, kw_only=True)
class Named:
    name: str = "x"


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {"name": "a"}),
    (("a",), {}),
    (("a", 4, {"b": 1}, 5), {}),
    (("a",), {"line": 7, "values": {"c": 2}}),
]


@pytest.mark.parametrize(("values", "named"), CALLS)
def test_record_has_the_fields_and_the_text_of_a_dataclass(values: Any, named: Any) -> None:
    record, real = Record(*values, **named), Real(*values, **named)
    assert dataclasses.asdict(record) == dataclasses.asdict(real)
    assert repr(record) == repr(real).replace("Real", "Record")
    assert record == Record(*values, **named) == copy.deepcopy(record) == pickle.loads(pickle.dumps(record))


def test_fields_that_do_not_count_are_not_compared() -> None:
    assert Record("a", line=1) == Record("a", line=2) != Record("b", line=1)
    assert Record("a") != Real("a")
    assert Record("a").__eq__(1) is NotImplemented


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), (("a", 1, {}, 0, 9), {}), (("a",), {"name": "b"}), (("a",), {"other": 1})]
)
def test_wrong_arguments_are_refused_where_a_dataclass_refuses_them(values: Any, named: Any) -> None:
    for kind in (Record, Real):
        with pytest.raises(TypeError):
            kind(*values, **named)


def test_record_is_frozen() -> None:
    for change in (lambda: setattr(Record("a"), "name", "b"), lambda: delattr(Record("a"), "name")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()


def test_record_can_be_hashed_like_a_dataclass() -> None:
    assert hash(Named(name="a")) == hash(Named(name="a"))
    with pytest.raises(TypeError):
        hash(Record("a"))  # a mapping in it


def test_dataclasses_takes_records_for_its_own() -> None:
    assert dataclasses.is_dataclass(Record)
    assert [field.name for field in dataclasses.fields(Record)] == [
        field.name for field in dataclasses.fields(Real)
    ]
    assert dataclasses.replace(Record("a", line=4), count=5) == Record("a", 5)  # type: ignore[type-var]
    assert inspect.signature(Record) == inspect.signature(Real)
    assert Record.count == 3
    assert not hasattr(Record, "values")
    assert Record("a").double == 6


def test_keyword_only_record_takes_no_positional_argument() -> None:
    assert Named().name == "x"
    with pytest.raises(TypeError):
        Named("y")


def test_fields_are_computed_once() -> None:
    assert dataclasses.fields(Record)[0] is dataclasses.fields(Record)[0]
    assert inspect.signature(Record) is inspect.signature(Record)
