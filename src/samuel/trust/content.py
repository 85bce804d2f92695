"""The content that a permit was given for, as whatever runs it is told: it runs these bytes, or nothing."""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

import msgspec

from samuel.files.survey import Signature


class TrustedFile(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when it was permitted."""

    signature: Signature
    digests: tuple[str, ...]  # that the user agreed to

    def is_opened_as(self, opened: Signature) -> bool:
        """Whether the signature of a descriptor is that of this file, or of what it leads to if it is a link."""
        return self.signature[-len(opened) :] == opened


class TrustedContent(msgspec.Struct, frozen=True):
    """The files that a permit covers."""

    directories: tuple[str, ...] = ()  # every file in them counts: one that is not listed is not trusted
    files: dict[str, TrustedFile] = {}  # by path

    def covers(self, path: str) -> bool:
        """Whether the permit says something about this path."""
        return path in self.files or any(path.startswith(f"{directory}/") for directory in self.directories)

    def has(self, path: str, digest: str) -> bool:
        """Whether a covered file with this digest is what was permitted."""
        file = self.files.get(path)
        return file is not None and digest in file.digests

    def check(self, path: str, digest: str) -> None:
        """Raise ContentChanged for a file that is covered and has another digest."""
        if self.covers(path) and not self.has(path, digest):
            raise ContentChanged(path)


NO_CONTENT = TrustedContent()  # of a handler that needs no trust


class ContentChanged(Exception):
    """A file is not what its permit was given for any more; nothing of it was run."""

    def __init__(self, path: str) -> None:
        super().__init__(f"`{path}` changed after it was permitted, so it was not run")
