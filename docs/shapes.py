"""Records in Markdown: what a struct says of its fields, as tables that link to each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import NODEFAULT, UNSET
from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields
from page import MUST, table


class Shapes:
    """The records that a page mentions, in the order they were met, to be listed at its end."""

    def __init__(self) -> None:
        self.met: dict[str, type[msgspec.Struct]] = {}

    def name(self, kind: Any) -> str:
        """A type in words."""
        match kind:
            case types.Metadata(type=inner):
                return self.name(inner)
            case types.UnionType(types=several):
                # null is the same as leaving a field out
                return " or ".join(
                    self.name(member) for member in several if not isinstance(member, types.NoneType)
                )
            case types.ListType(item_type=item) | types.VarTupleType(item_type=item):
                return f"array of {self.name(item)}"
            case types.LiteralType(values=values):
                return " or ".join(f'`"{value}"`' for value in values)
            case types.EnumType(cls=enum):
                return " or ".join(f'`"{member.value}"`' for member in enum)
            case types.StructType(cls=struct):
                self.met.setdefault(struct.__name__, struct)
                return f"[{struct.__name__}](#{struct.__name__.lower()})"
        return PLAIN[type(kind)]

    def table(self, infos: Iterable[FieldInfo], about: Mapping[str, str] | None = None) -> str:
        rows = []
        for info in infos:
            what = about[info.name] if about else description(info.type)
            kind = self.name(types.type_info(info.type))
            # the journal has its own way with these two: a digest, and nothing
            marked = "" if info.name in ("context", "previous") else marks(info.type)
            rows.append((f"`{info.encode_name}`", kind, default(info), f"{what}{marked}"))
        return table(("field", "type", "default", "what it is"), rows)

    def listed(self) -> str:
        """Every record met so far, and those that they mention."""
        parts, done = [], set[str]()
        while waiting := [name for name in self.met if name not in done]:
            for name in waiting:
                struct = self.met[name]
                parts.append(f"### {name}\n\n{self.table(fields(struct))}")
                done.add(name)
        return "\n".join(parts)


PLAIN = {
    types.StrType: "string",
    types.IntType: "integer",
    types.FloatType: "number",
    types.BoolType: "boolean",
    types.DictType: "object",
    types.RawType: "object",
    types.AnyType: "any value",
}


def description(kind: Any) -> str:
    """The first description in a type, which is that of the field itself."""
    return next((part.description for part in metadata(kind) if part.description), "")


def marks(kind: Any) -> str:
    extra_keys = {mark for part in metadata(kind) for mark in part.extra_json_schema or ()}
    return " *Secret: never in the journal.*" * ("x-secret" in extra_keys) + " *Cut short in the journal.*" * (
        "x-bulk" in extra_keys
    )


def metadata(kind: Any) -> list[msgspec.Meta]:
    own = [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, msgspec.Meta)]
    return [*own, *(part for inner in getattr(kind, "__args__", ()) for part in metadata(inner))]


def default(info: FieldInfo) -> str:
    if info.default_factory is not NODEFAULT:
        value = info.default_factory()
    elif info.default is NODEFAULT:
        return MUST
    else:
        value = msgspec.json.decode(info.default) if isinstance(info.default, msgspec.Raw) else info.default
    return "-" if value is UNSET or value is None else f"`{json.dumps(msgspec.to_builtins(value))}`"


def as_json(value: Any) -> str:
    return f"```json\n{json.dumps(value, indent=2)}\n```\n"
