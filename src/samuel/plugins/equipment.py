"""What a plugin needs apart from its files: a Python environment with its packages, or a container image."""

from __future__ import annotations

import os

from samuel.base.errors import SamuelError
from samuel.base.paths import User
from samuel.confine.containers import engine
from samuel.plugins import environment
from samuel.plugins.candidate import PluginCandidate, pinned
from samuel.plugins.fetch import FetchProgress
from samuel.plugins.model import OCI
from samuel.process.reason import NotRunnable


def equip(candidate: PluginCandidate, user: User, watch: FetchProgress) -> PluginCandidate:
    """The candidate, pinned to the packages and the image that were made ready for it. Raises SamuelError."""
    manifest, entry = candidate.plugin.manifest, candidate.entry
    python: tuple[str, ...] = ()
    image = ""
    try:
        if manifest.dependencies:
            watch.step(f"making a Python environment for {candidate.title}")
            python = entry.python or environment.resolve(user.environments, manifest.dependencies)
            environment.make(user.environments, python)
        if manifest.kind == OCI:
            watch.step(f"getting the image of {candidate.title}")
            image = _image(candidate, user)
    except SamuelError as error:
        raise SamuelError(f"`{candidate.title}`: {error.message}", error.hint) from None
    return pinned(candidate, image=image, python=python)


def _image(candidate: PluginCandidate, user: User) -> str:
    """The locked image, or else the one that the manifest names.

    An image that was built exists only on the machine that built it: another machine builds its own from the same
    files.
    """
    manifest = candidate.plugin.manifest
    if locked_image := candidate.entry.image:
        try:
            return engine.pin(locked_image, host=os.environ, cache=user.cache)
        except NotRunnable:
            if not manifest.containerfile or not locked_image.startswith("sha256:"):
                raise
    file = candidate.plugin.directory / manifest.containerfile if manifest.containerfile else None
    return engine.pin(manifest.image, containerfile=file, host=os.environ, cache=user.cache)
