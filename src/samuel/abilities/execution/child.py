"""The process that the function of an ability runs in: the input on stdin, the output on stdout.

What the function prints goes to stderr, so that it does not end up in its output.
"""

from __future__ import annotations

import os
import sys

from samuel.decoding import decode_json
from samuel.files.json import write
from samuel.runtimes.worker import load


def main() -> None:
    target, name = sys.argv[1:]
    answer = os.dup(1)  # not inheritable: what the function starts cannot write into its output
    os.dup2(2, 1)
    given = decode_json(sys.stdin.buffer.read())
    output = write(getattr(load(target), name)(given))
    with open(answer, "wb") as file:
        file.write(output)
