from __future__ import annotations

import pytest

from samuel.relevance.spelling import relatives, slips


@pytest.mark.parametrize("slip", ["comrpess", "compres", "compresss", "conpress", "commpress"])
def test_a_slip_leads_back_to_the_word(slip: str) -> None:
    assert "compress" in set(slips(slip))


@pytest.mark.parametrize("other", ["express", "comrpes", "xompress", "compress123"])
def test_two_slips_and_another_beginning_do_not(other: str) -> None:
    assert "compress" not in set(slips(other))


def test_short_words_are_what_they_are() -> None:
    assert list(slips("test")) == list(slips("tests")) == list(slips("i18n42x")) == []


def test_relatives() -> None:
    assert "train" in set(relatives("retrain"))
    assert "retrain" in set(relatives("train"))
    assert "test" in set(relatives("tester"))
    assert "tester" in set(relatives("test"))
