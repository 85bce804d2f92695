"""Read one registry file: an ability, or every problem of the file at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from samuel.config import kinds
from samuel.config.reader import ConfigTable, ProblemReport
from samuel.files import yaml
from samuel.files.command_files import is_file
from samuel.routing.abilities.model import KINDS, Ability, Implementation, Level

TYPES = ("workflow", "agent")
LONGEST_SUMMARY = 2_000

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_FUNCTION = re.compile(r"[^:\s][^:]*:[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPES = {kind: implementation for implementation, kind in KINDS.items()}


class ExecutionSettings(NamedTuple):
    """A file below `config/`: how an ability runs that another file defines."""

    name: str
    implementation: Implementation | None
    file: str
    line: int


def read_ability(data: bytes, file: str, level: Level) -> Ability:
    """The content of a file; ConfigError with every problem of it."""
    document = yaml.load(data, file)
    report = ProblemReport(Path(file), document.lines)
    top = report.read(document.mapping())
    high = level is Level.HIGH
    key = top.require("operation_key", name, "") if not high else top.take("operation_key", name, "")
    scope, hints = top.table("scope"), top.table("routing_hints")
    ability = Ability(
        id=top.require("id", name, "") if high else key,
        level=level,
        summary=top.require("summary", prose, ""),
        file=file,
        operation_key=key,
        type=top.require("type", kinds.one_of(*TYPES), "") if high else "",
        version=top.take("version", version, ""),
        modules=scope.take("modules", kinds.names, ()),
        environments=scope.take("environments", kinds.names, ()),
        keywords=hints.take("keywords", kinds.names, ()),
        negative_keywords=hints.take("negative_keywords", kinds.names, ()),
        scopes=hints.take("scopes", kinds.names, ()),
        notes=hints.take("notes", prose, ""),
        calls=top.take("calls", kinds.names, ()) if high else (),
        input_schema=top.take("input_schema", schema, None),
        output_schema=top.take("output_schema", schema, None),
        implementation=_implementation(top),
        implementation_file=file if "implementation" in top else "",
    )
    report.finish()
    return ability


def read_execution(data: bytes, file: str) -> ExecutionSettings:
    """The content of a file; ConfigError with every problem of it."""
    document = yaml.load(data, file)
    report = ProblemReport(Path(file), document.lines)
    top = report.read(document.mapping())
    names = [key for key in ("operation_key", "id") if top.take(key, name, "")]
    if len(names) != 1:
        top.refuse("operation_key", "it must name exactly one ability", "write its `operation_key` or its `id`")
    if "implementation" not in top:
        top.refuse("implementation", "`implementation` is missing")
    implementation = _implementation(top)
    report.finish()
    return ExecutionSettings(top.take(names[0], name, ""), implementation, file, top.line(names[0]))


def _implementation(top: ConfigTable) -> Implementation | None:
    if "implementation" not in top:
        top.take("implementation", kinds.any_value, None)
        return None
    table = top.table("implementation")
    kind = table.require("kind", kinds.one_of(*_TYPES), "")
    if not kind:
        for other in _TYPES:
            table.take(other, kinds.any_value, None)  # so that these keys are not reported as unknown too
        return None
    if kind not in table:
        table.refuse(kind, f"`{kind}` is missing", f"describe how it runs below `{kind}:`")
        return None
    fields = table.table(kind)
    own: dict[str, Any]
    if kind == "script":
        path = fields.require("path", kinds.inner_path, "")
        own = {"path": path, "arguments": fields.take("args_template", kinds.words, ())}
    elif kind == "python":
        own = {"function": fields.require("function", function, "")}
    else:
        own = {"prompt": fields.require("prompt", text, "")}
    timeout = fields.take("timeout", kinds.timeout, None)
    return _TYPES[kind](**own, timeout=timeout, env=fields.take("env", environment, {}))


def name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("must be made of letters, digits, `.`, `-` and `_`, at most 100 of them")
    return value


def text(value: object) -> str:
    if not kinds.text(value).strip():
        raise ValueError("must not be empty")
    return kinds.text(value)


def prose(value: object) -> str:
    """The text as one line."""
    line = " ".join(text(value).split())
    if len(line) > LONGEST_SUMMARY:
        raise ValueError(f"must have at most {LONGEST_SUMMARY} characters")
    return line


def version(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"must be a number or a string, not {kinds.type_name(value)}")
    return str(value)


def schema(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a JSON Schema, which is a table, not {kinds.type_name(value)}")
    return value


def function(value: object) -> str:
    target = kinds.name(value).removeprefix("./")
    if not _FUNCTION.fullmatch(target):
        raise ValueError("must be `module:function` or `path/to/file.py:function`")
    module, _, _ = target.rpartition(":")
    kinds.inner_path(module if is_file(module) else module.replace(".", "/"))
    return target


def environment(value: object) -> dict[str, str]:
    """Variables with their values, or a list of names that are passed through from the environment."""
    variables = value if isinstance(value, dict) else {name: f"${name}" for name in kinds.variables(value)}
    for variable, content in variables.items():
        if not _VARIABLE.fullmatch(variable):
            raise ValueError(f"must name environment variables, and `{variable}` is not a valid name")
        if not isinstance(content, str) or "\0" in content:
            raise ValueError(f"must give `{variable}` a string")
    return variables
