"""The process in which the Python function of an ability runs: input on stdin, output on stdout.

What the function prints goes to stderr, so that it does not mix with its output.
"""

from __future__ import annotations

import os
import sys

from samuel.base.decoding import decode_json
from samuel.files.json import write
from samuel.process.compiled_python import compile_exactly
from samuel.runtimes.worker import load


def main() -> None:
    compile_exactly()
    target, name = sys.argv[1:]
    answer = os.dup(1)  # not inheritable, so that child processes cannot write to the output
    os.dup2(2, 1)
    value = decode_json(sys.stdin.buffer.read())
    output = write(getattr(load(target), name)(value))
    with open(answer, "wb") as file:
        file.write(output)
