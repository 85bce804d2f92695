"""`samuel schema config`, and the schema file that `samuel init` writes."""

from __future__ import annotations

from samuel.config.schema import config_schema


def test_the_schema_of_samuel_toml_is_printed_as_one_object(samuel, project):
    ran = samuel("schema", "config")
    assert (ran.code, ran.err, ran.json) == (0, "", config_schema())
    assert samuel("schema", "config", "--json") == ran


def test_the_schema_needs_no_valid_samuel_toml(samuel, put):
    put("samuel.toml", "nonsense =")
    assert samuel("schema", "config").code == 0


def test_the_command_writes_what_init_wrote(samuel, project):
    samuel("init")
    assert (project / ".samuel/samuel.schema.json").read_text() == samuel("schema", "config").out
