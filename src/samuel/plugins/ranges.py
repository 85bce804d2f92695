"""Versions, ranges of them, and Python requirements, as a manifest writes them.

Each raises a ValueError that completes the sentence "`key` ...". `packaging` is imported where it is used: it is
slow to import, and most commands never meet a plugin.
"""

from __future__ import annotations

from samuel.base.printable import shorten
from samuel.config import kinds

ANY = "*"


def version(value: object) -> str:
    from packaging.version import InvalidVersion, Version

    text = kinds.name(value)
    try:
        Version(text)
    except InvalidVersion:
        raise ValueError(f"must be a version like `1.0.0`, not `{shorten(text)}`") from None
    return text


def version_range(value: object) -> str:
    """A range as it is written in the manifest; "" for any version."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    text = kinds.text(value).strip()
    if text == ANY:
        return ""
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError(f"must be a range of versions like `>=1,<2`, not `{shorten(text)}`") from None
    return text


def protocol_range(value: object) -> str:
    """A range of protocol numbers; one number alone means exactly that one."""
    text = str(value) if type(value) is int else kinds.text(value).strip()
    return f"=={text}" if text.isascii() and text.isdigit() else version_range(text)


def within(version_text: str, range_text: str) -> bool:
    """Whether a version is in a range. Pre-releases count too, so that they can be tested."""
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(range_text).contains(version_text, prereleases=True)


def dependencies(value: object) -> tuple[str, ...]:
    """Requirements that `pip install` can take from a package index; URLs are refused."""
    from packaging.requirements import InvalidRequirement, Requirement

    listed = kinds.names(value)
    for item in listed:
        try:
            url = Requirement(item).url
        except InvalidRequirement:
            raise ValueError(f"must list requirements like `requests>=2`, not `{shorten(item)}`") from None
        if url:
            raise ValueError(f"must list packages of a package index, not a URL like `{shorten(item)}`")
    return listed
