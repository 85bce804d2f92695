"""Files that hold settings for many tools: whether a change of one concerns the checks.

Adding a dependency to package.json is ordinary work; changing its `scripts` changes what is checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from samuel.files.toml.lines import toml_values

_PACKAGE_KEYS = (
    *("dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "bundledDependencies"),
    *("name", "version", "description", "keywords", "author", "contributors", "license", "repository", "bugs"),
    *("homepage", "files", "bin", "man", "types", "typings", "engines", "funding", "private"),
)
_PACKAGING_TOOLS = ("poetry", "setuptools", "hatch", "pdm", "uv", "flit", "setuptools_scm", "rye", "cibuildwheel")
_POM_TAGS = ("dependencies", "dependencyManagement", "version", "description", "name", "url", "licenses", "scm")


def same_settings(path: str, before: str, after: str) -> bool:
    """Whether a change of this file leaves all settings that a check may read as they were."""
    read = _READERS.get(path.rpartition("/")[2])
    if read is None or not before or not after:
        return False
    try:
        return bool(read(before) == read(after))
    except (ValueError, TypeError, AttributeError, ElementTree.ParseError, RecursionError):
        return False


def _package(text: str) -> Any:
    return {key: value for key, value in json.loads(text).items() if key not in _PACKAGE_KEYS}


def _pyproject(text: str) -> Any:
    tools = toml_values(text).get("tool", {})
    return {name: value for name, value in tools.items() if name not in _PACKAGING_TOOLS}


def _pom(text: str) -> Any:
    if "<!" in text.replace("<!--", "").replace(
        "<![CDATA[", ""
    ):  # a document type: entities could grow without end
        raise ValueError
    project = ElementTree.fromstring(text)
    for child in list(project):
        if child.tag.rpartition("}")[2] in _POM_TAGS:
            project.remove(child)
    return ElementTree.canonicalize(ElementTree.tostring(project, encoding="unicode"), strip_text=True)


_READERS: dict[str, Callable[[str], Any]] = {
    "package.json": _package,
    "pyproject.toml": _pyproject,
    "pom.xml": _pom,
}
