"""What stands below `config` in the YAML of a shipped hook: read with the file, every problem with its line."""

from __future__ import annotations

import json
from textwrap import dedent, indent
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError
from samuel.files import yaml
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.sources.yaml_file import read_hook
from samuel.sources.yaml_hook import YamlHook


def hook(name: str, config: str, event: str = "") -> YamlHook:
    """The lines of `config` begin with line 5."""
    config_lines = indent(dedent(config).strip("\n"), "  ")
    event = event or SHIPPED_HOOKS[name].events[0]
    head = f"id: {name}\nevent_type: {event}\nhandler: {{kind: builtin, name: {name}}}\n"
    return read_hook(f"{head}config:\n{config_lines}\n".encode(), "hook.yaml", SHIPPED_HOOKS)


@pytest.mark.parametrize(
    ("name", "config", "problem"),
    [
        ("policy_guard", "rules: 1", "hook.yaml:5: `rules` must be an array, not an integer"),
        ("policy_guard", "rules: [1]", "hook.yaml:5: `rules` must be a list of tables"),
        ("policy_guard", "rule: []", "hook.yaml:5: unknown key `rule` in `config` (did you mean `rules`?)"),
        ("policy_guard", "rules:\n- reason: x", "hook.yaml:6: `decision` is missing (add `decision: ...`)"),
        (
            "policy_guard",
            "rules:\n- decision: maybe",
            "hook.yaml:6: `decision` must be one of `deny`, `ask`, `allow`, not `maybe`",
        ),
        (
            "policy_guard",
            "rules:\n- decision: deny\n  pathes: x",
            "hook.yaml:7: unknown key `pathes` in `config.rules[0]` (did you mean `paths`?)",
        ),
        (
            "policy_guard",
            "rules:\n- {decision: deny, path: []}",
            "hook.yaml:6: `path` must be a string that is not empty, or a list of them",
        ),
        (
            "policy_guard",
            "rules: [{decision: allow, path: x}]",
            "a rule with `decision: allow` cannot have `path`",
        ),
        (
            "policy_guard",
            "rules: [{decision: allow, program: x, paths: x}]",
            "a rule with `decision: allow` cannot have `paths`",
        ),
        ("policy_guard", "opaque: maybe", "`opaque` must be one of `deny`, `ask`, `allow`, not `maybe`"),
        ("session_stop_build_check", "builds: [{command: make}]", "`paths` is missing"),
        (
            "session_stop_build_check",
            "builds: [{paths: x, command: 'a \"'}]",
            "has an unclosed quotation mark",
        ),
        ("session_stop_build_check", "builds: [{paths: x, command: []}]", "`command` must name a program"),
        (
            "session_stop_build_check",
            "builds: [{paths: 'a/**', command: 'make {service}'}]",
            "`{service}` is not in all of `paths` (write it like services/{service}/**)",
        ),
        (
            "session_stop_build_check",
            "builds: [{paths: '**/{service}/x', command: make}]",
            "must not have `**` before a `{name}`",
        ),
        (
            "session_stop_build_check",
            "builds: [{paths: 'a/x{service}/**', command: make}]",
            "must have a whole directory for each `{name}`, not `x{service}`",
        ),
        (
            "session_stop_build_check",
            "builds: [{paths: 'a/{service}', command: make}]",
            "must continue after the last",
        ),
        (
            "session_stop_build_check",
            "builds: [{paths: x, command: make, directory: ../x}]",
            "must be a path below the project's root",
        ),
        ("session_stop_build_check", "builds: [{paths: x, command: make, timeout: 5}]", "needs a unit"),
        (
            "knowledge_trigger",
            "intents: [{when: '(', intent: x}]",
            "must be a regular expression; `(` is not",
        ),
        ("knowledge_trigger", "intents: [{when: x}]", "`intent` is missing"),
        (
            "knowledge_trigger",
            "intents: [{when: x, intent: y, stage: later}]",
            "must be one of `understand`",
        ),
        ("skill_activation_prompt", "limit: 0", "`limit` must be at least 1, not 0"),
        ("post_tool_use_tracker", "frequent: often", "`frequent` must be an integer, not a string"),
    ],
)
def test_a_wrong_config_of_a_shipped_hook_is_refused_with_its_line(name: str, config: str, problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        hook(name, config)
    assert problem in str(error.value)


def test_a_shipped_hook_is_for_its_event_alone() -> None:
    with pytest.raises(ConfigError, match=r"hook\.yaml:2: `policy_guard` is for `PreAbilityCall` alone"):
        hook("policy_guard", "rules: []", event="SessionStop")


def test_an_unknown_builtin_name_is_refused_with_the_closest_one() -> None:
    text = b"id: x\nevent_type: PreAbilityCall\nhandler: {kind: builtin, name: policy_gard}\nconfig: {rules: []}\n"
    with pytest.raises(ConfigError) as error:
        read_hook(text, "hook.yaml", SHIPPED_HOOKS)
    assert str(error.value) == (
        "hook.yaml:3: `policy_gard` is not a hook that comes with Samuel (did you mean `policy_guard`?)"
    )


def test_the_config_of_a_script_may_be_any_table() -> None:
    text = (
        b"id: x\nevent_type: SessionStop\nhandler: {kind: script, command: ./x}\nconfig: {any: [1, {b: null}]}\n"
    )
    assert read_hook(text, "hook.yaml", SHIPPED_HOOKS).config == {"any": [1, {"b": None}]}
    with pytest.raises(ConfigError, match="`config` must be a table"):
        read_hook(text.replace(b"{any: [1, {b: null}]}", b"text"), "hook.yaml", SHIPPED_HOOKS)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text()
            | st.sampled_from(
                ["rules", "builds", "intents", "when", "paths", "path", "command", "decision", "limit"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(name=st.sampled_from(sorted(SHIPPED_HOOKS)), config=values)
@example(name="session_stop_build_check", config={"builds": [{"paths": "{a}/{a}/**", "command": "{a}"}]})
def test_any_config_of_a_shipped_hook_is_read_or_refused(name: str, config: Any) -> None:
    try:
        text = json.dumps(config, allow_nan=False)
    except ValueError:
        return
    try:
        handler = hook(name, text)
    except ConfigError:
        return
    again = yaml.load(json.dumps(handler.config).encode(), "x").values
    assert (again or {}) == handler.config
