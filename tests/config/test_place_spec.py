"""Places in words: what each text names, and what is said about one that names none."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.base.errors import ConfigError, UsageError
from samuel.config import load
from samuel.config.place_spec import PlaceSpec, place_spec, place_specs


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("local:4", PlaceSpec("local", 4)),
        ("ssh:build1:2", PlaceSpec("ssh", 2, "build1")),
        ("ssh:me@build2:2:~/clones/shop", PlaceSpec("ssh", 2, "me@build2", "~/clones/shop")),
        ("ssh:[fe80::1]:1:/srv/a:b", PlaceSpec("ssh", 1, "fe80::1", "/srv/a:b")),
        ("ray:auto", PlaceSpec("ray", 0, "auto")),
        ("ray:head:6379", PlaceSpec("ray", 0, "head:6379")),
    ],
)
def test_text_names_a_place_and_the_place_gives_the_text_back(text: str, spec: PlaceSpec) -> None:
    assert place_spec(text) == spec
    assert str(spec) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a place"),
        ("shh:build1:2", "did you mean"),
        ("local", "needs a number of slots"),
        ("local:0", "needs a number of slots from 1 to 64"),
        ("local:65", "needs a number of slots from 1 to 64"),
        ("ssh:build1", "lacks a host or its slots"),
        ("ssh:build1:two", "needs a number of slots"),
        ("ssh:-oProxyCommand=id:2", "is not the name of a host"),
        ("ssh:a b:2", "lacks a host"),
        ("ssh:a;id:2", "is not the name of a host"),
        ("ssh:build1:2:clones", "is relative"),
        ("ray:", "names no cluster"),
    ],
)
def test_text_that_names_no_place_is_refused_with_what_to_write(text: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        place_spec(text)
    assert words in str(refused.value)


def test_place_that_is_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="`ssh:a` is named twice"):
        place_specs(("ssh:a:1", "ssh:a:2:/srv"))


def test_places_of_samuel_toml_are_checked_when_it_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "samuel.toml"
    file.write_text('[fleet]\nplaces = ["ssh:build1"]\n')
    with pytest.raises(ConfigError, match=r"samuel\.toml:2: the place `ssh:build1` lacks a host"):
        load(file)
    file.write_text('[fleet]\nplaces = ["ssh:build1:2"]\nsilence = "30s"\n')
    assert (load(file).fleet.places, load(file).fleet.silence) == (("ssh:build1:2",), 30.0)
