"""`samuel hooks schema`: the contract of an event, for programs."""

from __future__ import annotations

import jsonschema
import pytest

from samuel.events import EVENTS
from samuel.events.schema import sample, schema


def test_hooks_schema_prints_the_schema_of_one_event(samuel):
    ran = samuel("hooks", "schema", "before_loop")
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.json) == ["event", "protocol", "composes", "payload", "result"]
    assert ran.json["event"] == "before:loop"


@pytest.mark.slow
def test_hooks_schema_prints_the_schemas_of_all_events(samuel):
    schemas = samuel("hooks", "schema").json
    assert list(schemas) == [event.name for event in EVENTS]
    assert schemas["TurnEnd"] == samuel("hooks", "schema", "TurnEnd", "--json").json
    for event in EVENTS:
        jsonschema.Draft202012Validator.check_schema(schemas[event.name]["payload"])
        jsonschema.validate({"event": event.name, **sample(event)}, schema(event)["payload"])


def test_hooks_schema_refuses_an_unknown_event(samuel):
    assert samuel("hooks", "schema", "beforeloops") == (
        2,
        "",
        "error: `beforeloops` is not an event\ndid you mean `before:loop`?\n",
    )
