"""Versions, ranges of them, and Python requirements, as a manifest writes them.

Each raises a ValueError that completes the sentence "`key` ...". `packaging` is imported where it is used: it is
slow to import, and most commands never meet a plugin.
"""

from __future__ import annotations

from samuel.config import kinds
from samuel.printable import shorten

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
    """A range as it was written; "" for any version."""
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
    """A range of the contract's numbers; one number alone means exactly that one."""
    text = str(value) if type(value) is int else kinds.text(value).strip()
    return f"=={text}" if text.isascii() and text.isdigit() else version_range(text)


def within(found: str, wanted: str) -> bool:
    """Is this version in the range? One before a release counts as well: that is what its testers run."""
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(wanted).contains(found, prereleases=True)


def dependencies(value: object) -> tuple[str, ...]:
    """What `pip install` can take from a package index, and nothing that leads elsewhere."""
    from packaging.requirements import InvalidRequirement, Requirement

    listed = kinds.names(value)
    for item in listed:
        try:
            url = Requirement(item).url
        except InvalidRequirement:
            raise ValueError(f"must list requirements like `requests>=2`, and `{shorten(item)}` is none") from None
        if url:
            raise ValueError(f"must list what comes from a package index, and `{shorten(item)}` names a URL")
    return listed
