"""The catalogue has exactly the events, fields, rules and limits of the contract below.

The JSON Schemas have a golden file per event in `golden/`, and `shared.json` for what events share.
`SAMUEL_UPDATE_GOLDENS=1 pytest tests/events` rewrites those that differ and fails with the differences.
"""

from __future__ import annotations

import copy
import difflib
import functools
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema
import msgspec
import pytest

from samuel.events import EVENTS, Event, EventType, LoopEvent, event_type
from samuel.events.catalogue import BY_PAYLOAD
from samuel.events.event import PROTOCOL
from samuel.events.names import LOOP, spellings
from samuel.events.schema import all_schemas, fields_marked, own_fields, sample

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "SAMUEL_UPDATE_GOLDENS"

# event | payload | composes by | strict | timeout; `?` marks a field that may be left out
TABLE = """
init.before         | force, minimal                                  | all-ok                | no  | 30
init.after          | plugins_installed                               | all-ok                | no  | 30
sync.before         |                                                 | all-ok                | no  | 30
sync.after          | files_written                                   | all-ok                | no  | 30
tasks.read          | format, path, text                              | candidates            | no  | 30
before:loop         | prd_path, max_iterations                        | all-ok                | yes | 30
before:iteration    | task, usage                                     | all-ok                | no  | 30
iteration.gate      | consec_fails, queue_size, usage                 | replace               | yes | 30
context.snapshot    |                                                 | chained blob          | no  | 30
context.progress    | progress_path                                   | chained blob          | no  | 30
context.task        | task                                            | chained blob          | no  | 30
context.extra       | task                                            | concatenate           | no  | 30
before:agent.invoke | agent, prompt, env, sandbox                     | transform chain       | no  | 30
agent.invoke        | agent, prompt, env, sandbox                     | replace               | no  | 1800
after:agent.invoke  | exit_code, stdout, stderr, usage, duration_ms?  | all-ok                | no  | 30
quality.check       | commands, task, merged?, commit?, corner, claim? | all-ok + concatenate  | yes | 300
before:land         | task, commit, base, branch, files               | all-ok                | yes | 30
after:land          | tasks, commit, branch                           | all-ok                | no  | 30
after:iteration     | task, outcome, usage, question?                 | all-ok                | no  | 30
after:loop          | iterations_run, exit_reason, usage              | all-ok                | no  | 30
SessionStart        |                                                 | merge                 | no  | 30
UserPromptSubmit    | user_message, files_touched?                    | merge; may deny       | no  | 30
PreAbilityCall      | ability_id, operation_key?, planned_input_summary?, tool_input? | rewrite, then guard | no | 30
PostAbilityCall     | ability_id, operation_key?, status, duration_ms?, input_summary?, output_summary?, tool_call_path?, tool_input?, original_input?, tool_output? | transform, then merge | no | 30
TurnEnd             | response, turn_number                           | merge                 | no  | 30
SessionStop         | changed_files?, messages?                       | merge                 | no  | 30
SessionEnd          |                                                 | merge                 | no  | 30
SubagentStop        | subagent, last_message?                         | merge                 | no  | 30
Notification        | message, kind?, title?                          | merge                 | no  | 30
PreCompact          | trigger, instructions?                          | merge; may deny       | no  | 30
ConfigChange        | source, path?                                   | merge; may deny       | no  | 30
"""  # noqa: E501
ROWS = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]
COMMON = {
    *("protocol", "event", "event_id", "idempotency_key", "timestamp", "project_root", "deadline_ms", "run_id"),
    *(
        "session_id",
        "methodology",
        "environment",
        "stage",
        "recipe_name",
        "dry_run",
        "lane",
        "machine",
        "phase",
        "previous",
        "plugin",
        "extra",
    ),
    "recipe_full_name",
}


def test_the_catalogue_has_the_31_events_in_the_order_of_the_contract() -> None:
    assert [event.name for event in EVENTS] == [row[0] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_an_event_has_the_fields_rule_and_limits_of_the_contract(row: list[str]) -> None:
    name, fields, composes, strict, timeout = row
    event = event_type(name)
    assert event.composition.name == composes
    assert event.strict is (strict == "yes")
    assert event.timeout == float(timeout)
    expected = {field.strip() for field in fields.split(",") if field.strip()}
    optional = {info.name for info in own_fields(event.payload) if info.default is msgspec.UNSET}
    assert {info.name + "?" * (info.name in optional) for info in own_fields(event.payload)} == expected


def test_the_loop_has_15_events_and_only_they_have_a_context() -> None:
    assert [event.name for event in EVENTS if issubclass(event.payload, LoopEvent)] == list(LOOP)
    assert len(LOOP) == 15
    assert {"iteration", "mode", "context"} <= set(LoopEvent.__struct_encode_fields__)


def test_all_events_have_exactly_the_common_fields() -> None:
    assert {*Event.__struct_encode_fields__, "event"} == COMMON


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_no_field_of_an_event_shadows_a_common_one(event: object) -> None:
    payload = event.payload  # type: ignore[attr-defined]
    common = {*COMMON, *LoopEvent.__struct_encode_fields__} if issubclass(payload, LoopEvent) else COMMON
    own = vars(payload).get("__annotations__", {})
    assert not set(own) & common
    result = event.result.__struct_encode_fields__  # type: ignore[attr-defined]
    assert not set(result) & {"event", "event_id", "protocol", "previous", "plugin", "context"}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_a_payload_survives_encoding_and_decoding(event: object) -> None:
    payload = event.payload  # type: ignore[attr-defined]
    event_object = msgspec.convert({"event": event.name, **sample(event)}, payload)  # type: ignore[attr-defined, arg-type]
    text = msgspec.json.encode(event_object)
    assert msgspec.json.decode(text)["event"] == event.name  # type: ignore[attr-defined]
    assert msgspec.json.decode(text, type=payload) == event_object
    # an unknown key, perhaps of a later protocol, is ignored
    assert msgspec.json.decode(text[:-1] + b',"from_the_future":{"a":1}}', type=payload) == event_object
    assert BY_PAYLOAD[type(event_object)] is event
    with pytest.raises(AttributeError):
        event_object.event_id = "x"


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_every_field_of_a_payload_has_a_description(event: object) -> None:
    schema = msgspec.json.schema(event.payload)  # type: ignore[attr-defined]
    for info in own_fields(event.payload):  # type: ignore[attr-defined]
        schema_of_field = schema["$defs"][event.payload.__name__]["properties"][info.encode_name]  # type: ignore[attr-defined]
        assert "description" in json.dumps(schema_of_field), info.name


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_the_sample_of_an_event_fits_its_schema(event: object) -> None:
    schemas = event_schemas()[event.name]  # type: ignore[attr-defined]
    jsonschema.Draft202012Validator.check_schema(schemas["payload"])
    jsonschema.Draft202012Validator.check_schema(schemas["result"])
    payload = {"event": event.name, **sample(event)}  # type: ignore[attr-defined, arg-type]
    jsonschema.Draft202012Validator(schemas["payload"]).validate(payload)


def test_secret_and_bulk_fields_are_marked_in_the_schema() -> None:
    text = json.dumps(event_schemas()["agent.invoke"])
    assert '"x-secret": true' in text
    assert '"x-bulk": true' in text


@pytest.mark.parametrize("mark", ["x-secret", "x-bulk"])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_the_marked_fields_are_those_that_the_type_hints_mark(event: EventType, mark: str) -> None:
    for struct in (event.payload, event.result):
        hints = get_type_hints(struct, include_extras=True)
        marked = tuple(name for name, hint in hints.items() if f"'{mark}': True" in repr(hint))
        assert fields_marked(struct, mark) == marked


def shared_fields() -> dict[str, Any]:
    """The schemas of the fields that all events, or all events of the loop, have."""
    properties = msgspec.json.schema(LoopEvent)["$defs"]["LoopEvent"]["properties"]
    return {name: schema for name, schema in properties.items() if name != "event"}


def shared_definitions() -> dict[str, Any]:
    """The schemas of the structs that belong to more than one event."""
    definitions = [
        (name, definition)
        for schemas in event_schemas().values()
        for part in ("payload", "result")
        for name, definition in schemas[part]["$defs"].items()
    ]
    uses = Counter(name for name, _ in definitions)
    return {name: definition for name, definition in definitions if uses[name] > 1}


def without_shared(schemas: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """`schemas`, where what is equal to a shared schema of the same name is only marked as shared."""
    return {name: "shared" if shared.get(name) == schema else schema for name, schema in schemas.items()}


def own_schemas(event: EventType) -> dict[str, Any]:
    """The schemas of an event, without repeating what it shares with others."""
    schemas = copy.deepcopy(event_schemas()[event.name])
    shared = shared_schemas()
    payload = schemas["payload"]["$defs"][event.payload.__name__]
    payload["properties"] = without_shared(payload["properties"], shared["fields"])
    for part in ("payload", "result"):
        schemas[part]["$defs"] = without_shared(schemas[part]["$defs"], shared["definitions"])
    return schemas


@functools.cache
def event_schemas() -> dict[str, Any]:
    return all_schemas()


@functools.cache
def shared_schemas() -> dict[str, Any]:
    return {"fields": shared_fields(), "definitions": shared_definitions()}


SHARED = "shared"
EVENTS_BY_GOLDEN = {spellings(event.name)[1]: event for event in EVENTS}


@pytest.mark.parametrize("name", [SHARED, *EVENTS_BY_GOLDEN])
def test_the_schemas_of_an_event_are_those_of_its_golden_file(name: str) -> None:
    """Other people's hooks are written against these schemas: they must not change by accident."""
    file = GOLDEN / f"{name}.json"
    expected = file.read_text() if file.exists() else ""
    golden = shared_schemas() if name == SHARED else own_schemas(EVENTS_BY_GOLDEN[name])
    schemas = json.dumps(golden, indent=1, sort_keys=True) + "\n"
    if schemas == expected:
        return
    lines = difflib.unified_diff(expected.splitlines(), schemas.splitlines(), "golden", "now", lineterm="")
    difference = "\n".join([f"{file.name}:", *lines])
    if os.environ.get(UPDATE) == "1":
        file.write_text(schemas)
        pytest.fail(f"rewritten; read the difference, then run the tests again\n{difference}", pytrace=False)
    pytest.fail(
        f"the schemas differ from tests/events/golden/{file.name}. An incompatible change (a field is removed, "
        f"has a new type or is newly required) needs a new protocol number (now {PROTOCOL}, in events/event.py). "
        f"If the change is compatible, or has its new number, rewrite the file with {UPDATE}=1.\n{difference}",
        pytrace=False,
    )


def test_every_golden_file_belongs_to_an_event() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == {SHARED, *EVENTS_BY_GOLDEN}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_typed_payload_has_the_names_that_every_payload_and_every_context_has(event: EventType) -> None:
    payload = msgspec.convert({**sample(event), "event": event.name, "project_root": "/p"}, event.payload)
    assert (payload.event, payload.event_type, payload.repository_root) == (event.name, event.name, "/p")
    assert msgspec.to_builtins(payload)["event"] == event.name


def test_handlers_may_run_in_the_background_only_where_no_answer_counts() -> None:
    after_the_fact = [event.name for event in EVENTS if not event.answer_counts]
    assert after_the_fact == [
        *("init.after", "sync.after", "after:agent.invoke", "after:land", "after:iteration", "after:loop"),
        *("PostAbilityCall", "TurnEnd", "SessionEnd", "Notification"),
    ]
    for event in EVENTS:
        composition = event.composition
        if composition.can_deny or composition.needs_answer or composition.completes or event.strict:
            assert event.answer_counts, event.name
