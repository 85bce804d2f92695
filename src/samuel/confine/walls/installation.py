"""What a program of the host needs to see of the host: where it was installed.

Interpreters often lie in the user's home, which walls hide: pyenv, nvm, conda, a virtual environment. Such a tree
is let through, and nothing of the home around it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from samuel.confine.walls.places import below, machine

_PROGRAMS = ("bin", "sbin")
_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
_ELSEWHERE = ("/home", "/root", "/tmp", "/var/tmp", "/run")


def of_program(program: str, root: str) -> tuple[str, ...]:
    """The places a program is made of, and those of what it is a link to. Nothing for the machine's own."""
    return _of_files((program, os.path.realpath(program)), root)


def on_path(path: str, root: str) -> tuple[str, ...]:
    """The places of programs that the host has on its PATH, outside of home directories and of the project."""
    directories = filter(os.path.isabs, path.split(os.pathsep))
    return _of_directories(tuple(directory for directory in directories if os.path.isdir(directory)), root)


# By what links lead to and what exists now: in a server, another version may be installed between two calls.
@cache
def _of_files(files: tuple[str, ...], root: str) -> tuple[str, ...]:
    private = _private(root)
    return _not_of_the_machine(place for file in files for place in _around(file, private))


@cache
def _of_directories(directories: tuple[str, ...], root: str) -> tuple[str, ...]:
    private = _private(root)
    shared = [
        directory
        for directory in directories
        if all(_apart(directory, place) for place in (*private, *_ELSEWHERE))
    ]
    places = [place for directory in shared for place in (directory, *_tree(directory, private))]
    return _not_of_the_machine(places)


def _around(file: str, private: Sequence[str]) -> Iterator[str]:
    yield file
    yield from _tree(os.path.dirname(file), private)


def _tree(directory: str, private: Sequence[str]) -> Iterator[str]:
    """The tree that a directory of programs belongs to, or its parts if the user's own files lie in it as well."""
    tree = os.path.dirname(directory)
    if os.path.basename(directory) not in _PROGRAMS or not os.path.isdir(os.path.join(tree, "lib")):
        return
    if any(place == tree or below(place, tree) for place in private):
        yield from (os.path.join(tree, part) for part in _PARTS)
    else:
        yield tree


def _apart(place: str, other: str) -> bool:
    return place != other and not below(place, other) and not below(other, place)


def _private(root: str) -> tuple[str, ...]:
    home = os.path.expanduser("~")
    return (root, home, os.path.realpath(home), os.path.join(home, ".local", "share"))


def _not_of_the_machine(places: Iterable[str]) -> tuple[str, ...]:
    system_directories = machine()
    return tuple(
        place
        for place in dict.fromkeys(places)
        if os.path.exists(place)
        and not any(place == directory or below(place, directory) for directory in system_directories)
    )
