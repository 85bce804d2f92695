"""Where the server of a project listens: a socket in a directory that only its user can enter.

The name is computed from all that a client has in common with its server, so that a client can only meet a server
that would give the same answers: the project, the installation and its version, and the variables that hooks see.
The native client (`native/samuel_emit.c`) computes the same.

This module is imported by a client that has to be fast: of the standard library it uses only `os` and `stat`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping

from samuel.process.emit_client import LONGEST_SOCKET_PATH
from samuel.process.passed import INTERPRETER_PREFIXES, PASSED, PASSED_PREFIXES
from samuel.version import __version__

NAME_LENGTH = 2 * 16 + 1
ENDING = ".sock"

_NAMES = frozenset(name.encode() for name in PASSED)
_PREFIXES = tuple(prefix.encode() for prefix in (*PASSED_PREFIXES, *INTERPRETER_PREFIXES))
_BASIS, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_COERCED = (b"C.UTF-8", b"C.utf8", b"UTF-8")


def socket_path(root: str, installation: str, environment: Mapping[bytes, bytes]) -> str:
    """The path of the socket; "" where there is no private directory for it."""
    directory = runtime_directory(environment, root)
    return f"{directory}/{socket_name(root, installation, environment)}{ENDING}" if directory else ""


def socket_name(root: str, installation: str, environment: Mapping[bytes, bytes]) -> str:
    """The name of the socket without its ending."""
    variables = (name + b"=" + value for name, value in deciding_variables(environment).items())
    return f"{project_name(root, installation)}-{sum(map(_fnv1a, variables)) & _MASK:016x}"


def project_name(root: str, installation: str) -> str:
    """The first half of the name: that of all servers of a project, whatever the variables."""
    return f"{_fnv1a(os.fsencode(chr(0).join((root, installation, __version__)))):016x}"


def _fnv1a(data: bytes) -> int:
    """FNV-1a with 64 bits, without importing `hashlib`. Not a cryptographic hash."""
    value = _BASIS
    for byte in data:
        value = (value ^ byte) * _PRIME & _MASK
    return value


def deciding_variables(environment: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The environment variables that can change an answer, whatever the project."""
    variables = {
        name: value for name, value in environment.items() if name in _NAMES or name.startswith(_PREFIXES)
    }
    if variables.get(b"LC_CTYPE") in _COERCED and _is_c_locale(environment):
        del variables[b"LC_CTYPE"]  # Python sets it for itself where there is no other locale
    return variables


def _is_c_locale(environment: Mapping[bytes, bytes]) -> bool:
    return not environment.get(b"LC_ALL") and environment.get(b"LANG", b"") in (b"", b"C", b"POSIX")


def runtime_directory(environment: Mapping[bytes, bytes], root: str) -> str:
    """The directory of the sockets; "" if there is none that only this user can enter."""
    return next((directory for directory in candidates(environment, root) if is_private(directory)), "")


def candidates(environment: Mapping[bytes, bytes], root: str) -> Iterator[str]:
    """The directories in which a socket may be, the preferred one first; only those where its path fits."""
    own = os.fsdecode(environment.get(b"XDG_RUNTIME_DIR", b""))
    usable = own.startswith("/") and not _is_in(own, root)
    places = (f"{own}/samuel" if usable else "", f"/tmp/samuel-{os.getuid()}")
    for place in places:
        if place and len(os.fsencode(place)) + 1 + NAME_LENGTH + len(ENDING) <= LONGEST_SOCKET_PATH:
            yield place


def _is_in(directory: str, root: str) -> bool:
    """Whether a directory is in the project, which must not bring a socket of its own."""
    try:
        real = os.path.realpath(directory, strict=True)
    except OSError:
        return True
    return f"{real}/".startswith(f"{root.rstrip('/')}/")


def is_private(directory: str) -> bool:
    """Whether it is a directory, not a link, that belongs to this user and that no other user can enter."""
    try:
        status = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
