from __future__ import annotations

import pytest

from samuel.routing.relevance.spelling import one_slip_away, relatives


@pytest.mark.parametrize("slip", ["comrpess", "compres", "compresss", "conpress", "commpress"])
def test_one_typing_error_leads_back_to_the_word(slip: str) -> None:
    assert "compress" in set(one_slip_away(slip))


@pytest.mark.parametrize("other", ["express", "comrpes", "xompress", "compress123"])
def test_two_typing_errors_or_another_first_letter_do_not_lead_back_to_the_word(other: str) -> None:
    assert "compress" not in set(one_slip_away(other))


def test_short_words_and_words_with_digits_are_not_corrected() -> None:
    assert list(one_slip_away("test")) == list(one_slip_away("tests")) == list(one_slip_away("i18n42x")) == []


def test_a_stem_with_re_or_er_is_related_to_the_one_without() -> None:
    assert "train" in set(relatives("retrain"))
    assert "retrain" in set(relatives("train"))
    assert "test" in set(relatives("tester"))
    assert "tester" in set(relatives("test"))
