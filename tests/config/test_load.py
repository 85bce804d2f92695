"""What a good samuel.toml becomes. What a bad one gets is in test_problems.py."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from samuel.config import Config, EventSettings, HandlerRef, Limits, Methodology, format_duration, load
from samuel.config.edit import snippet
from samuel.events import names
from samuel.files.toml.lines import dotted

EVERYTHING = """\
default_methodology = "mine"
distributions = ["samuel-python", "other"]
pass_env = ["SSH_AUTH_SOCK", "_x1"]

[hooks."quality.check"]
strict = false
timeout = "5m"
handlers = ["default", { use = "org/repo:check", strict = true, timeout = "60s" }, "..."]

[hooks."quality.check".order]
notify = 50
"samuel-default" = -1

[hooks.pre_ability_call]
handlers = []

[methodology.mine.hooks.before_loop]
strict = true

[guardrails]
max_file_lines = 300
ratio = 0.5
style = "plain"
tabs = false
folders = ["src", "tests"]

[session]
allow_commands = ["make test", "npm run build:billing"]

[limits]
handler_output_bytes = 1000
handler_prompt_bytes = 100
"""


def test_a_config_without_a_file_has_all_defaults(file: Path) -> None:
    assert load(file) == Config()
    assert load(file / "below" / "nothing") == Config()


def test_the_environment_is_loaded(loaded: Callable[[str], Config]) -> None:
    assert loaded('environment = "dev"\n').environment == "dev"


def test_a_config_from_an_empty_file_has_all_defaults(file: Path, loaded: Callable[[str], Config]) -> None:
    assert loaded("") == loaded("# nothing\n") == Config(file=file)


def test_a_file_with_every_table_is_loaded(file: Path, loaded: Callable[[str], Config]) -> None:
    assert without_lines(loaded(EVERYTHING)) == Config(
        file=file,
        default_methodology="mine",
        hooks={
            "quality.check": EventSettings(
                strict=False,
                timeout=300.0,
                handlers=(HandlerRef("default"), HandlerRef("org/repo:check", True, 60.0), HandlerRef("...")),
                order={"notify": 50, "default": -1},
            ),
            "PreAbilityCall": EventSettings(handlers=()),
        },
        methodology={"mine": Methodology("mine", hooks={"before:loop": EventSettings(strict=True)})},
        distributions=("samuel-python", "other"),
        pass_env=("SSH_AUTH_SOCK", "_x1"),
        allow_commands=("make test", "npm run build:billing"),
        guardrails={
            "max_file_lines": 300,
            "ratio": 0.5,
            "style": "plain",
            "tabs": False,
            "folders": ["src", "tests"],
        },
        limits=Limits(handler_output_bytes=1000, handler_prompt_bytes=100),
    )


def test_settings_and_handlers_know_their_lines(loaded: Callable[[str], Config]) -> None:
    settings = loaded(EVERYTHING).hooks["quality.check"]
    assert settings.line == 5
    assert settings.handlers is not None
    assert [handler.line for handler in settings.handlers] == [8, 8, 8]
    assert settings.order_lines == {"notify": 11, "default": 12}


def test_handlers_may_be_an_array_of_tables(loaded: Callable[[str], Config]) -> None:
    text = '[[hooks.before_loop.handlers]]\nuse = "a"\n[[hooks.before_loop.handlers]]\nuse = "samuel-default"\n'
    handlers = loaded(text).hooks["before:loop"].handlers
    assert handlers == (HandlerRef("a", line=1), HandlerRef("default", line=3))


def without_lines(config: Config) -> Config:
    """The settings alone: where each of them is in the file is another matter."""
    methodologies = {
        name: replace(methodology, hooks=hooks_without_lines(methodology.hooks))
        for name, methodology in config.methodology.items()
    }
    return replace(config, hooks=hooks_without_lines(config.hooks), methodology=methodologies)


def hooks_without_lines(hooks: Mapping[str, EventSettings]) -> dict[str, EventSettings]:
    return {
        event: replace(
            settings,
            handlers=settings.handlers and tuple(replace(ref, line=0) for ref in settings.handlers),
            line=0,
            order_lines={},
        )
        for event, settings in hooks.items()
    }


handler_names = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=8).filter(
    lambda text: text not in ("...", "samuel-default")
)
seconds = st.integers(1, 480 * 3_600_000).map(lambda milliseconds: milliseconds / 1000)
numbers = st.integers(-(2**63), 2**63 - 1)
refs = st.builds(HandlerRef, handler_names | st.just("..."), st.none() | st.booleans(), st.none() | seconds)
settings = st.builds(
    EventSettings,
    strict=st.none() | st.booleans(),
    timeout=st.none() | seconds,
    handlers=st.none() | st.lists(refs, max_size=4, unique_by=lambda ref: ref.use).map(tuple),
    order=st.dictionaries(handler_names, numbers, max_size=3),
)
hooks = st.dictionaries(st.sampled_from(names.ALL), settings, max_size=3)
identifiers = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]*", fullmatch=True)
scalars = numbers | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
configs = st.builds(
    Config,
    default_methodology=identifiers,
    hooks=hooks,
    methodology=st.dictionaries(identifiers, hooks, max_size=2).map(
        lambda tables: {name: Methodology(name, inner) for name, inner in tables.items()}
    ),
    distributions=st.lists(handler_names, unique=True, max_size=3).map(tuple),
    pass_env=st.lists(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True), unique=True, max_size=3).map(
        tuple
    ),
    guardrails=st.dictionaries(st.text(max_size=5), scalars | st.lists(scalars, max_size=3), max_size=3),
    limits=st.builds(Limits, st.integers(1, 2**63 - 1), st.integers(1, 2**63 - 1)),
)


def as_toml(config: Config) -> str:
    lines = [
        snippet(["default_methodology"], config.default_methodology),
        snippet(["distributions"], config.distributions),
        snippet(["pass_env"], config.pass_env),
        snippet(["limits"], asdict(config.limits)),
        snippet(["guardrails"], config.guardrails),  # type: ignore[arg-type]
        *hooks_as_toml(["hooks"], config.hooks),
    ]
    for methodology in config.methodology.values():
        lines += [f"[methodology.{methodology.name}]"]
        lines += hooks_as_toml(["methodology", methodology.name, "hooks"], methodology.hooks)
    return "\n".join(lines)


def hooks_as_toml(path: list[str], hooks: Mapping[str, EventSettings]) -> list[str]:
    lines = []
    for event, settings in hooks.items():
        lines += [f"[{dotted([*path, event])}]"]
        lines += [] if settings.strict is None else [snippet(["strict"], settings.strict)]
        lines += [] if settings.timeout is None else [snippet(["timeout"], format_duration(settings.timeout))]
        lines += (
            [] if settings.handlers is None else [snippet(["handlers"], [short(ref) for ref in settings.handlers])]
        )
        lines += [snippet(["order"], settings.order)]
    return lines


def short(ref: HandlerRef) -> str | dict[str, str | bool]:
    own: dict[str, str | bool] = {}
    if ref.strict is not None:
        own["strict"] = ref.strict
    if ref.timeout is not None:
        own["timeout"] = format_duration(ref.timeout)
    return {"use": ref.use, **own} if own else ref.use


@given(configs)
def test_any_config_that_is_written_as_toml_is_loaded_unchanged(config: Config) -> None:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "samuel.toml"
        file.write_text(as_toml(config), newline="")
        assert without_lines(load(file)) == replace(config, file=file)
