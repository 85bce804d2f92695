"""The projects around a project in which the user trusts something: their guards hold in it, too.

Otherwise an agent that makes a `samuel.toml` or a `.git` in its directory would be in a project of its own, and
without the guards around it. `samuel emit` looks for them before it loads the engine, hence no `pathlib` here.
"""

from __future__ import annotations

import os

from samuel.trust.repository import directories_above, has_git, key_in, key_with_own_git, path_key


def trusted_around(root: str, state: str, logical: str = "") -> tuple[str, ...]:
    """The roots of the enclosing projects with agreements, the nearest first.

    `root` is a path over no links, `state` the user's state directory. `logical` is the working directory as a
    shell names it (`PWD`): where it leads into the project over a link, what is above the link counts as well.
    """
    above = directories_above(root)[1:]
    if _leads_in_over_a_link(logical, root):
        for place in directories_above(os.path.normpath(logical))[1:]:
            above += directories_above(os.path.realpath(place))
    tops: dict[str, str] = {}
    places = (place for place in dict.fromkeys(above) if place != root)
    return tuple(place for place in places if _has_agreements(place, _top(place, tops), state))


def _leads_in_over_a_link(logical: str, root: str) -> bool:
    inside = f"{root.rstrip('/')}/"
    if not logical.startswith("/") or f"{logical}/".startswith(inside):
        return False  # the usual case
    return f"{os.path.realpath(logical)}/".startswith(inside)


def _top(place: str, tops: dict[str, str]) -> str:
    """The work tree around a directory, "" for none; `tops` has those that were looked for before."""
    if place not in tops:
        above = place[: place.rindex("/")] or "/"
        tops[place] = place if has_git(place) else "" if place == "/" else _top(above, tops)
    return tops[place]


def _has_agreements(place: str, top: str, state: str) -> bool:
    keys = [path_key(place)]  # also from before there was a repository: they follow their project into it
    if top:
        keys.append(key_in(place, top))
    # Moving `.git` away makes a guard untrusted, and such a guard denies. It must not make its project unknown.
    keys += (key_with_own_git(place, above) for above in directories_above(place) if above != top)
    return any(os.path.exists(f"{state}/trust/{key}.json") for key in keys)
