from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import UnknownEvent
from samuel.events import names
from samuel.events.names import ALL, KODELET, canonical


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)]


def spellings(name: str) -> set[str]:
    parts = words(name)
    joined = {sign.join(parts) for sign in "_.:-"}
    return {name, *joined, *(spelling.upper() for spelling in joined), "".join(part.title() for part in parts)}


@pytest.mark.parametrize("name", ALL)
def test_canonical_accepts_every_spelling_of_an_event(name: str) -> None:
    assert {spelling: canonical(spelling) for spelling in spellings(name)} == dict.fromkeys(spellings(name), name)


def test_no_spelling_means_two_of_the_31_events() -> None:
    assert len(set(ALL)) == 31
    all_spellings = [spelling for name in ALL for spelling in spellings(name)]
    assert len(all_spellings) == len(set(all_spellings))


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("quality.chek", "quality.check"),
        ("befor:loop", "before:loop"),
        ("PreAbilityCal", "PreAbilityCall"),
        ("contextextra", "context.extra"),
        ("session_begin_start", "SessionStart"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(wrong: str, meant: str) -> None:
    with pytest.raises(UnknownEvent, match=re.escape(wrong)) as caught:
        canonical(wrong)
    assert caught.value.hint == f"did you mean `{meant}`?"


@pytest.mark.parametrize("name", ["extension.mine", "methodology.mine.step"])
def test_the_error_about_a_reserved_name_says_that_it_is_reserved(name: str) -> None:
    with pytest.raises(UnknownEvent, match="reserved"):
        canonical(name)


@given(st.text())
def test_any_text_is_an_event_or_an_unknown_one(text: str) -> None:
    try:
        event_name = canonical(text)
    except UnknownEvent:
        return
    assert event_name in ALL


@pytest.mark.parametrize(("theirs", "ours"), KODELET.items())
def test_kodelets_names_are_names_of_events(theirs: str, ours: str) -> None:
    assert canonical(theirs) == canonical(theirs.upper()) == ours
    assert theirs in names.spellings(ours)


def test_a_misspelt_name_of_kodelets_suggests_the_event_it_means() -> None:
    with pytest.raises(UnknownEvent) as caught:
        canonical("before_tool_cal")
    assert caught.value.hint == "did you mean `PreAbilityCall`?"
