"""The text of a YAML hook: what it says, and every way in which it can be wrong."""

from __future__ import annotations

from contextlib import suppress
from textwrap import dedent
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError
from samuel.events.names import ALL, spellings
from samuel.hooks.handler import HandlerMode, Role
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.sources.yaml_file import read_hook
from samuel.sources.yaml_hook import YamlHook

FILE = ".system/hooks/h.yaml"
HANDLER = "handler: {kind: script, command: ./h.sh}"


def read(text: str) -> YamlHook:
    return read_hook(dedent(text).encode(), FILE, SHIPPED_HOOKS)


def wrong(text: str) -> list[str]:
    """What is said of it, without the file's name: `line: what (hint)`."""
    with pytest.raises(ConfigError) as caught:
        read(text)
    return [str(problem).removeprefix(f"{FILE}:") for problem in caught.value.problems]


def least(more: str = "", event: str = "PostAbilityCall") -> str:
    return f"id: h\nevent_type: {event}\n{HANDLER}\n{dedent(more)}"


def test_a_yaml_hook_needs_only_id_event_and_handler() -> None:
    assert read(least()) == YamlHook(
        id="h",
        events=("PostAbilityCall",),
        spelled=("PostAbilityCall",),
        kind="script",
        command="./h.sh",
        words=("./h.sh",),
    )


def test_a_yaml_hook_with_every_key_is_read() -> None:
    hook = read("""
        id: my-hook.v2
        event_type: [pre_ability_call, PostAbilityCall]
        enabled: false
        summary: >
          Two lines
          of text.
        blocking: true
        role: guard
        mode: observe
        environments: [dev, staging]
        order: 50
        timeout: 1.5s
        match:
          ability_id: [a, "b*"]
          ability_scope: "*"
          operation_key: workflow.*
          stage: act
          recipe_name: release-*
        handler:
          kind: script
          command: ["./scripts/h.sh", "--flag", "two words"]
        effects:
          - append_to: .system/logs/x.md
          - anything at all
        """)
    assert hook == YamlHook(
        id="my-hook.v2",
        events=("PreAbilityCall", "PostAbilityCall"),
        spelled=("pre_ability_call", "PostAbilityCall"),
        enabled=False,
        summary="Two lines of text.",
        blocking=True,
        role=Role.GUARD,
        mode=HandlerMode.OBSERVE,
        environments=("dev", "staging"),
        order=50,
        timeout=1.5,
        match={
            "ability_id": ["a", "b*"],
            "ability_scope": ["*"],
            "operation_key": ["workflow.*"],
            "stage": ["act"],
            "recipe_name": ["release-*"],
        },
        kind="script",
        command="./scripts/h.sh --flag 'two words'",
        words=("./scripts/h.sh", "--flag", "two words"),
    )


@pytest.mark.parametrize("name", ALL)
def test_a_yaml_hook_accepts_every_spelling_of_every_event(name: str) -> None:
    for spelled in spellings(name):
        assert read(least(event=f'"{spelled}"')).events == (name,)


def test_keys_without_a_value_are_ignored() -> None:
    assert read(least("match:\n  # nothing yet\neffects:\nsummary:\n")) == read(least())


class TestHandlers:
    def test_the_command_of_a_yaml_hook_is_split_into_words(self) -> None:
        hook = read(least().replace("./h.sh", "\"./h.sh -x 'a b' $HOME\""))
        assert hook.words == ("./h.sh", "-x", "a b", "$HOME")

    def test_a_command_with_shell_is_not_split(self) -> None:
        hook = read("id: h\nevent_type: TurnEnd\nhandler: {kind: script, shell: true, command: 'a | b'}")
        assert (hook.words, hook.shell, hook.command) == (("a | b",), True, "a | b")

    @pytest.mark.parametrize(
        ("handler", "file", "module", "function"),
        [
            ("function: scripts/h.py:run", "scripts/h.py", "", "run"),
            ("function: ./h.py:run", "h.py", "", "run"),
            ("function: package.module:run", "", "package.module", "run"),
            ("function: run, file: scripts/h.py", "scripts/h.py", "", "run"),
        ],
    )
    def test_a_python_handler_names_a_file_or_a_module(
        self, handler: str, file: str, module: str, function: str
    ) -> None:
        hook = read(f"id: h\nevent_type: TurnEnd\nhandler: {{kind: python, {handler}}}")
        assert (hook.file, hook.module, hook.function) == (file, module, function)
        assert hook.command == f"{file or module}:{function}"

    def test_a_builtin_handler_is_one_of_the_shipped_hooks(self) -> None:
        hook = read("id: h\nevent_type: PreAbilityCall\nhandler: {kind: builtin, name: policy_guard}")
        assert (hook.kind, hook.command) == ("builtin", "policy_guard")

    @pytest.mark.parametrize(
        ("handler", "message"),
        [
            ("{}", "3: `kind` is missing (add `kind: ...`)"),
            ("{kind: scrpt, command: x}", "3: `kind` must be one of `script`, `python`, `builtin`, not `scrpt`"),
            ("{kind: script}", "3: `command` is missing (add `command: ...`)"),
            ("{kind: script, command: ''}", "3: `command` must not be empty"),
            ("{kind: script, command: 3}", "3: `command` must be a string or a list of strings, not an integer"),
            ("{kind: script, command: []}", "3: `command` must not be empty"),
            ("{kind: script, command: [a, 3]}", "3: `command` must be an array of strings, none of them empty"),
            ('{kind: script, command: "a \'b"}', "3: `command` has an unclosed quotation mark"),
            ("{kind: script, command: ../a}", "3: `../a` leads out of the project"),
            ("{kind: script, command: a/../../b}", "3: `a/../../b` leads out of the project"),
            ("{kind: script, command: [a], shell: true}", "3: `command` is a list, and a shell takes text"),
            ("{kind: script, command: a, shell: 1}", "3: `shell` must be true or false, not an integer"),
            ("{kind: script, comand: a}", "3: `command` is missing (add `command: ...`)"),
            ("{kind: script, command: a, name: b}", "3: unknown key `name` in `handler`"),
            ("{kind: python}", "3: `function` is missing (add `function: ...`)"),
            ("{kind: python, function: run}", "3: `run` does not say where it is"),
            ("{kind: python, function: 'a:b', file: c.py}", "3: both `function` and `file` say where it is"),
            ("{kind: python, function: '/abs.py:run'}", "3: `function` must be a path below the project's root"),
            ("{kind: python, function: '../h.py:run'}", "3: `function` must be a path below the project's root"),
            ("{kind: python, function: 'scripts/h:run'}", "3: `function` must name a `.py` file"),
            ("{kind: python, function: 'h.py:a b'}", "3: `a b` cannot be the name of a function"),
            ("{kind: python, function: 'a-b:run'}", "3: `a-b` is neither a module nor a `.py` file"),
            ("{kind: builtin}", "3: `name` is missing (add `name: ...`)"),
            ("script", "3: `handler` must be a table, not a string"),
            ("[a]", "3: `handler` must be a table, not an array"),
        ],
    )
    def test_a_wrong_handler_is_refused_with_its_line(self, handler: str, message: str) -> None:
        assert wrong(f"id: h\nevent_type: TurnEnd\nhandler: {handler}\n")[0].startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: `event_type` is missing (add `event_type: ...`)"),
        ("- a\n- b\n", "1: it is not a mapping of keys to values (write `key: value` lines)"),
        ("id: h\n\tevent_type: x\n", "2: a tab where YAML wants spaces (indent with spaces)"),
        ("id: h\n---\nid: i\n", "2: more than one document (keep the first, and remove what follows `---`)"),
        ("id: h\nid: i\n", "2: `id` is given twice (keep one of them)"),
        ("a: &a [x]\nb: *a\n", "1: anchors and aliases are not taken (write the value out)"),
        ("id: !!python/object:os.system h\n", "1: the tag "),
        ("id: [\n", "1: not valid YAML: "),
        (least("eventtype: x"), "4: unknown key `eventtype` (did you mean `event_type`?)"),
        (least("strict: true"), "4: unknown key `strict`"),
        (least("enabled: yes"), "4: `enabled` must be true or false, not a string"),
        (least("blocking: 1"), "4: `blocking` must be true or false, not an integer"),
        (least("order: high"), "4: `order` must be an integer, not a string"),
        (least("timeout: 30"), '4: `timeout` needs a unit, like "30s"'),
        (least("role: gaurd"), "4: `role` must be one of `rewrite`, `guard`, `observe`, not `gaurd`"),
        (least("mode: watch"), "4: `mode` must be one of `enforce`, `observe`, not `watch`"),
        (
            "id: h\nevent_type: iteration.gate\nhandler: {kind: script, command: ./h.sh}\nmode: observe\n",
            "4: only one handler answers `iteration.gate`, so its answer cannot be left unused",
        ),
        (least("environments: []"), "4: `environments` must be a string that is not empty, or a list of them"),
        (least("environments: {a: b}"), "4: `environments` must be a string that is not empty, or a list of them"),
        (least("summary: [a]"), "4: `summary` must be a string, not an array"),
        (least("match: yes"), "4: `match` must be a table, not a string"),
        (least("match:\n  abilty_id: x"), "5: unknown key `abilty_id` in `match` (did you mean `ability_id`?)"),
        (least("match:\n  ability_id: 3"), "5: `ability_id` must be a string that is not empty"),
        (least("match:\n  min_duration_ms: -1"), "5: `min_duration_ms` must be a number of milliseconds"),
        (least("match:\n  status: ok"), "5: `status` must be one of `success`, `failure`, `skipped`, not `ok`"),
        (least("match:\n  stage: later"), "5: `stage` must be one of `understand`, `plan`, `act`, `review`"),
        (least(event="PostAbilityCal"), "2: `PostAbilityCal` is not an event (did you mean `PostAbilityCall`?)"),
        (least(event="extension.x"), "2: `extension.x` is reserved for later"),
        (least(event="[TurnEnd, turn_end]"), "2: `turn_end` is listed twice (keep one of the two)"),
        (least(event="7"), "2: `event_type` must be a string that is not empty, or a list of them"),
        (least().replace("id: h", "id: default"), "1: `id` must not be `default`"),
        (least().replace("id: h", "id: a b"), "1: `id` must be made of letters"),
        (least().replace("id: h", "id: a/b"), "1: `id` must be made of letters"),
        (least().replace("id: h", f"id: {'a' * 101}"), "1: `id` must be made of letters"),
    ],
)
def test_a_wrong_value_in_a_yaml_hook_is_refused_with_its_line(text: str, message: str) -> None:
    assert wrong(text)[0].startswith(message)


@pytest.mark.parametrize(
    ("event", "filter", "message"),
    [
        (
            "SessionStop",
            "ability_id: x",
            "5: `ability_id` looks at `ability_id`, which `SessionStop` does not have",
        ),
        ("UserPromptSubmit", "ability_scope: x", "5: `ability_scope` looks at `ability_id`"),
        ("PreAbilityCall", "min_duration_ms: 5", "5: `min_duration_ms` looks at `duration_ms`"),
        ("PreAbilityCall", "status: success", "5: `status` looks at `status`"),
        ("PostAbilityCall", "only_if_changed_paths: x", "5: `only_if_changed_paths` looks at `changed_files`"),
        ("context.extra", "operation_key: x", "5: `operation_key` looks at `operation_key`"),
        ("agent.invoke", "stage: act", "4: only one handler answers `agent.invoke`, so it cannot be filtered"),
        ("iteration.gate", "stage: act", "4: only one handler answers `iteration.gate`"),
    ],
)
def test_a_filter_on_a_field_that_the_event_does_not_have_is_refused(
    event: str, filter: str, message: str
) -> None:
    assert wrong(least(f"match:\n  {filter}", event))[0].startswith(message)


def test_all_problems_of_a_yaml_hook_are_reported_at_once() -> None:
    message = wrong("""
        id: a b
        event_type: Nothing
        order: x
        handler: {kind: script}
        """)
    assert [problem.partition(":")[0] for problem in message] == ["2", "3", "4", "5"]


KEYS = st.sampled_from(
    [
        *(
            "id",
            "event_type",
            "enabled",
            "summary",
            "blocking",
            "role",
            "mode",
            "environments",
            "order",
            "timeout",
        ),
        *("match", "handler", "effects", "kind", "command", "ability_id", "status", "x"),
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(["PostAbilityCall", "script", "python", "guard", "h", "./h.sh", "a.py:b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, VALUES, max_size=10))
def test_any_values_in_a_yaml_hook_are_read_or_refused(values: dict[str, Any]) -> None:
    """JSON is YAML too."""
    with suppress(ConfigError):
        read_hook(msgspec.json.encode(values), FILE, SHIPPED_HOOKS)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_of_a_yaml_hook_is_read_or_refused(text: str | bytes) -> None:
    with suppress(ConfigError):
        read_hook(text.encode(errors="replace") if isinstance(text, str) else text, FILE, SHIPPED_HOOKS)
