"""What `samuel emit` imports is most of what a call without a server takes."""

from __future__ import annotations

import json
import subprocess
import sys

IMPORTS = """
import json, re, sys

compiled_in = []
compile_pattern = re.compile

def noting(*arguments, **options):
    compiled_in.append(sys._getframe(1).f_globals.get("__name__", ""))
    return compile_pattern(*arguments, **options)

re.compile = noting
import samuel.cli.emit_event, samuel.emit.event, samuel.app, samuel.dispatch.dispatcher, samuel.runtimes.python
print(json.dumps([name for name in compiled_in if name.startswith("samuel.")]))
"""


def test_modules_of_a_call_compile_no_pattern_when_they_are_imported() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
