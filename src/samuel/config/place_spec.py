"""A place in words: `local:4`, `ssh:build1:2`, `ssh:build2:2:~/clones/shop`, `ray:auto`."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.printable import shorten

KINDS = ("local", "ssh", "ray")
MOST_SLOTS = 64
FORMS = "use `local:SLOTS`, `ssh:HOST:SLOTS[:DIRECTORY]` or `ray:ADDRESS`"
_SSH = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%a-z]+\]|[^:\s]+):(?P<slots>[^:]*)(:(?P<directory>.+))?")
_HOST = re.compile(r"([A-Za-z0-9_][\w.+-]*@)?([A-Za-z0-9_][\w.-]*|\[[0-9A-Fa-f:.%a-z]+\])")


class PlaceSpec(NamedTuple):
    """A place as the user names it."""

    kind: Literal["local", "ssh", "ray"]
    slots: int
    """How many attempts may run there at once; 0 where the place itself knows."""
    address: str = ""
    """The host, or the address of a cluster."""
    directory: str = ""
    """A clone on that host; "" for one that Samuel makes and keeps."""

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.address}" if self.address else self.kind

    @property
    def machine(self) -> str:
        """What people call the machine; "" where the place has several."""
        return self.address.rpartition("@")[2] if self.kind == "ssh" else ""

    def __str__(self) -> str:
        if self.kind == "ray":
            return f"ray:{self.address}"
        host = f"[{self.address}]" if ":" in self.address else self.address
        words = [self.kind, host, str(self.slots), self.directory]
        return ":".join(word for word in words if word)


def place_spec(text: str) -> PlaceSpec:
    """The place that a text names. Raises UsageError."""
    kind, _, rest = text.partition(":")
    place_text = shorten(text)
    if kind == "local":
        return PlaceSpec("local", _slots(rest, place_text))
    if kind == "ray":
        if not rest or not rest.isprintable() or rest != rest.strip():
            raise UsageError(f"the place `{place_text}` names no cluster", "use `ray:auto`, or `ray:HOST:PORT`")
        return PlaceSpec("ray", 0, rest)
    if kind != "ssh":
        raise UsageError(f"`{place_text}` is not a place", did_you_mean(kind, KINDS, FORMS))
    match = _SSH.fullmatch(rest)
    if match is None:
        raise UsageError(f"the place `{place_text}` lacks a host or its slots", FORMS)
    host, directory = match["host"], match["directory"] or ""
    if not _HOST.fullmatch(host):  # ssh would take one that begins with `-` for an option
        raise UsageError(f"`{shorten(host)}` in the place `{place_text}` is not the name of a host", FORMS)
    if directory and not (directory.startswith(("/", "~/")) and directory.isprintable()):
        hint = "begin it with `/` or `~/`"
        raise UsageError(f"the directory `{shorten(directory)}` in the place `{place_text}` is relative", hint)
    return PlaceSpec(
        "ssh", _slots(match["slots"], place_text), host.strip("[]") if host[0] == "[" else host, directory
    )


def _slots(text: str, place_text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9] or 0) <= MOST_SLOTS:
        raise UsageError(f"the place `{place_text}` needs a number of slots from 1 to {MOST_SLOTS}", FORMS)
    return int(text)


def place_specs(texts: tuple[str, ...]) -> tuple[PlaceSpec, ...]:
    """The places that these texts name, each of them once. Raises UsageError."""
    specs = tuple(map(place_spec, texts))
    names = [spec.name for spec in specs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"the place `{twice[0]}` is named twice", "name it once, with all of its slots")
    return specs
