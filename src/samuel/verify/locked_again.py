"""The acceptance tests of a receipt: their files in the commit, and what the worker saw of them.

They were written before the work, and are in its commit. Of hidden ones the checks of the attempt saw nothing but
in their own corner, so the other corners are made without them, as they were in the run.
"""

from __future__ import annotations

from collections.abc import Mapping

from samuel.base.printable import safe
from samuel.evidence.hidden_tests import split_tests
from samuel.git.output import GITLINK, LINK
from samuel.git.trees import Trees
from samuel.receipts.recorded import RecordedPredicate
from samuel.verify.answer import Answer, NotVerified
from samuel.version import __version__


def locked_contents(trees: Trees, base: str, tree: str, predicate: RecordedPredicate) -> dict[str, bytes]:
    """The files with acceptance tests, from the tree of the work. Raises NotVerified if it has others."""
    if predicate.acceptance is None:
        return {}
    blobs = {file.path: file.digest.get("gitBlob", "") for file in predicate.acceptance.files}
    entries, before = trees.entries(tree, blobs), trees.entries(base, blobs)
    contents: dict[str, bytes] = {}
    for path, blob in blobs.items():
        entry = entries.get(path)
        if entry is None or entry.object != blob or entry.mode in (LINK, GITLINK):
            raise NotVerified("different", f"the file of its acceptance tests `{safe(path)}` is not in the commit")
        if path in before and before[path].object != blob:
            raise NotVerified("different", f"`{safe(path)}` was there before, and is no new acceptance test")
        contents[path] = trees.content(tree, path) or b""
    return contents


def without_hidden_tests(
    trees: Trees, tree: str, contents: Mapping[str, bytes], predicate: RecordedPredicate
) -> str:
    """The tree of the work as its worker left it: without hidden tests. Raises NotVerified."""
    if predicate.acceptance is None or not predicate.acceptance.hidden:
        return tree
    split = split_tests(contents)
    if split.hidden != predicate.acceptance.hidden:
        answer: Answer = "different" if predicate.samuel == __version__ else "cannot"
        counts = f"{predicate.acceptance.hidden} in the receipt, {split.hidden} here"
        raise NotVerified(answer, f"other acceptance tests would be hidden from its worker: {counts}")
    return trees.with_contents(tree, split.visible)
