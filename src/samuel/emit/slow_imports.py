"""Imports msgspec and pathlib without the modules that they import for what no call of `samuel emit` does.

Each of these modules is imported when it is first used, be it by a hook in a fork of this process.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType


def import_without_slow_modules() -> None:
    """Import msgspec and pathlib in half of the time."""
    stand_ins: dict[str, ModuleType | None] = {
        "typing_extensions": None,  # tried first by msgspec; has nothing more for it than `typing`
        "platform": _Platform("platform"),  # `uuid` asks it for the system
        "textwrap": _ImportedLater("textwrap"),  # for the descriptions in schemas
        "urllib.parse": _UrllibParse("urllib.parse"),  # for `Path.as_uri`; with `ipaddress`
        "ntpath": _ImportedLater("ntpath"),  # for paths of Windows
        "msgspec.inspect": _ImportedLater("msgspec.inspect"),
        "msgspec.toml": _ImportedLater("msgspec.toml"),
        "msgspec.yaml": _ImportedLater("msgspec.yaml"),
    }
    if sys.version_info < (3, 12):
        # It has all that msgspec takes; `datetime` first defines the same in Python.
        stand_ins["datetime"] = __import__("_datetime")
    absent = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(absent)  # type: ignore[arg-type]  # None: cannot be imported for now
    try:
        import pathlib  # noqa: F401

        import msgspec  # noqa: F401
    except (
        AttributeError,
        ImportError,
    ):  # a version that uses one of them at once: then all are imported as usual
        pass
    finally:
        for name, module in absent.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


class _ImportedLater(ModuleType):
    """Has everything that the module of its name has, which is imported at the first use."""

    def __getattr__(self, name: str) -> object:
        if sys.modules.get(self.__name__) is self:  # the import system asks every module for some of its names
            raise AttributeError(name)
        __import__(self.__name__)
        return getattr(sys.modules[self.__name__], name)


class _Platform(_ImportedLater):
    @staticmethod
    def system() -> str:
        return os.uname().sysname


class _UrllibParse(_ImportedLater):
    @staticmethod
    def quote_from_bytes(data: bytes, safe: str | bytes = "/") -> str:
        from urllib.parse import quote_from_bytes  # slow, and rarely called

        return quote_from_bytes(data, safe)
