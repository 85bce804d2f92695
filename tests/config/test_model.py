from __future__ import annotations

import json
import pickle

import msgspec
import pytest

from samuel.config import Config, EventSettings, HandlerRef, Methodology

GENERAL = EventSettings(
    strict=True,
    timeout=30.0,
    handlers=(HandlerRef("general"),),
    order={"both": 1, "general": 2},
    line=3,
    order_lines={"both": 5, "general": 6},
)


def config(own: EventSettings) -> Config:
    hooks = {"quality.check": GENERAL}
    return Config(hooks=hooks, methodology={"ralph": Methodology("ralph", hooks={"quality.check": own})})


def test_an_empty_config_has_no_settings_for_an_event() -> None:
    assert Config().settings("quality.check", "ralph") == EventSettings(None, None, None, {}, 0, {})


def test_a_methodology_without_settings_uses_the_general_ones() -> None:
    assert config(EventSettings()).settings("quality.check", "ralph") == GENERAL
    assert config(EventSettings(strict=False)).settings("quality.check", "other") == GENERAL


def test_settings_of_a_methodology_win_field_by_field() -> None:
    assert config(EventSettings(strict=False)).settings("quality.check", "ralph").strict is False
    assert config(EventSettings(strict=False)).settings("quality.check", "ralph").timeout == 30.0
    assert config(EventSettings(timeout=1.0)).settings("quality.check", "ralph").timeout == 1.0
    assert config(EventSettings(handlers=())).settings("quality.check", "ralph").handlers == ()


def test_order_merges_per_key_with_its_lines() -> None:
    own = EventSettings(order={"both": 10, "own": 20}, line=8, order_lines={"both": 9, "own": 10})
    merged = config(own).settings("quality.check", "ralph")
    assert merged.order == {"both": 10, "general": 2, "own": 20}
    assert merged.order_lines == {"both": 9, "general": 6, "own": 10}
    assert merged.line == 8


def test_a_config_is_frozen_and_can_be_pickled_and_written_as_json() -> None:
    stored = config(EventSettings())
    with pytest.raises(AttributeError):
        stored.file = None  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(stored)) == stored
    assert json.loads(msgspec.json.encode(stored))["hooks"]["quality.check"]["timeout"] == 30.0
