"""Frozen dataclasses that cost next to nothing to define, for what `samuel emit` imports.

`dataclasses` writes and compiles source for each class, half a millisecond each; these share their methods. To
everything else they are dataclasses: `dataclasses.replace`, `fields` and `asdict` work, and type checkers are told
that they are the real ones (`if TYPE_CHECKING`). Not supported: inheritance, and whatever else is not used here.
"""

from __future__ import annotations

# The modules that records replace are imported where they are used: hardly ever.
from collections.abc import Callable
from typing import Any

_MISSING: Any = object()


class _Field:
    __slots__ = ("compare", "default", "factory")

    def __init__(self, default: Any, factory: Callable[[], Any] | None, compare: bool) -> None:
        self.default = default
        self.factory = factory
        self.compare = compare


def field(
    *, default: Any = _MISSING, default_factory: Callable[[], Any] | None = None, compare: bool = True
) -> Any:
    return _Field(default, default_factory, compare)


def dataclass(*, frozen: bool, kw_only: bool = False) -> Callable[[type], type]:
    """Make a class a frozen dataclass."""
    assert frozen

    def decorate(cls: type) -> type:
        fields: dict[str, _Field] = {}
        for name in cls.__annotations__:
            default = cls.__dict__.get(name, _MISSING)
            own = default if isinstance(default, _Field) else _Field(default, None, True)
            fields[name] = own
            if isinstance(default, _Field):
                if own.default is _MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, own.default)
        attributes: dict[str, Any] = {
            "__init__": _init(cls.__qualname__, fields, kw_only),
            "__eq__": _eq([name for name, own in fields.items() if own.compare]),
            "__hash__": _hash([name for name, own in fields.items() if own.compare]),
            "__repr__": _repr,
            "__setattr__": _refuse,
            "__delattr__": _refuse,
            "__match_args__": () if kw_only else tuple(fields),
        }
        for name, compute in (("__dataclass_fields__", _real_fields), ("__signature__", _signature)):
            attributes[name] = _OfDataclass(name, fields, kw_only, compute)
        for name, value in attributes.items():
            setattr(cls, name, value)
        return cls

    return decorate


def _init(title: str, fields: dict[str, _Field], kw_only: bool) -> Callable[..., None]:
    names = tuple(fields)

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        if len(values) > (0 if kw_only else len(names)):
            raise TypeError(f"{title}() takes fewer than {len(values)} positional arguments")
        state = self.__dict__
        for name, value in zip(names, values, strict=False):
            if name in named:
                raise TypeError(f"{title}() got multiple values for argument {name!r}")
            state[name] = value
        for name in names[len(values) :]:
            own = fields[name]
            if name in named:
                state[name] = named.pop(name)
            elif own.factory is not None:
                state[name] = own.factory()
            elif own.default is not _MISSING:
                state[name] = own.default
            else:
                raise TypeError(f"{title}() is missing the argument {name!r}")
        if named:
            raise TypeError(f"{title}() got an unexpected keyword argument {next(iter(named))!r}")

    return __init__


def _eq(names: list[str]) -> Callable[[Any, Any], bool]:
    def __eq__(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in names)

    return __eq__


def _hash(names: list[str]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(tuple(getattr(self, name) for name in names))

    return __hash__


def _repr(self: Any) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items() if name in _names(self))
    return f"{type(self).__qualname__}({values})"


def _names(self: Any) -> dict[str, Any]:
    names: dict[str, Any] = type(self).__annotations__
    return names


def _refuse(self: Any, name: str, *_: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


class _OfDataclass:
    """What others look for on a dataclass, computed by `dataclasses` when it is first looked for."""

    def __init__(
        self, name: str, fields: dict[str, _Field], kw_only: bool, compute: Callable[[type], Any]
    ) -> None:
        self._name = name
        self._fields = fields
        self._kw_only = kw_only
        self._compute = compute

    def __get__(self, instance: Any, cls: type) -> Any:
        import dataclasses

        real: dict[str, Any] = {"__annotations__": cls.__annotations__, "__module__": cls.__module__}
        for name, own in self._fields.items():
            if own.factory is not None:
                real[name] = dataclasses.field(default_factory=own.factory, compare=own.compare)
            elif own.default is not _MISSING:
                real[name] = dataclasses.field(default=own.default, compare=own.compare)
        twin: type = dataclasses.dataclass(frozen=True, kw_only=self._kw_only)(type(cls.__name__, (), real))
        value = self._compute(twin)
        setattr(cls, self._name, value)  # in the place of this: computed once
        return value


def _real_fields(twin: type) -> dict[str, Any]:
    fields: dict[str, Any] = twin.__dict__["__dataclass_fields__"]
    return fields


def _signature(twin: type) -> Any:
    import inspect

    return inspect.signature(twin)
