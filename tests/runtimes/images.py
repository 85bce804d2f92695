"""An image with nothing in it but busybox and a script, and what it takes to call it as a plugin."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

from samuel.confine.containers import container
from samuel.hooks.capability import NOTHING, Capabilities
from samuel.hooks.handler import Handler, Origin, Outcome, Package
from samuel.runtimes.base import Reply
from samuel.runtimes.oci import OciRuntime

from .contract import LIMIT, event

MEMORY = 64 * 1024 * 1024
# `sh` does what the task says. Everything else is a behaviour of the contract.
SCRIPT = rf"""#!/bin/sh
field() {{ printf '%s' "$payload" | sed 's/.*"'"$1"'":"\{{0,1\}}\([^",}}]*\).*/\1/'; }}
answer() {{
    case $1 in
        answers) echo '{{"extras": [{{"name": "a", "content": "b"}}]}}' ;;
        data) echo '{{"data": {{"Venv": ".venv"}}, "unknown": [1]}}' ;;
        crash) echo the reason >&2; exit 1 ;;
        hang) setsid sleep 60 & sleep 60 ;;
        flood) head -c {4 * LIMIT} /dev/zero | tr '\0' x ;;
        chatter) echo chatter >&2; echo '{{"x": 1}}' ;;
        echo)
            size=$(field text | tr -d '\200-\277' | wc -c)
            echo "{{\"deadline_ms\": $(field deadline_ms), \"event\": \"$(field event)\", \"size\": $size," \
                "\"id\": \"$(field id)\"}}" ;;
        digest) printf '{{"digest": "%s"}}\n' "$(field text | sha256sum | cut -d ' ' -f 1)" ;;
        sh)
            said=$(eval "$(field text | base64 -d)" 2>&1)
            printf '{{"code": %s, "said": "%s"}}\n' $? "$(printf '%s' "$said" | base64 | tr -d '\n')" ;;
    esac
}}
if [ "$1" != serve ]; then
    payload=$(cat)
    [ "$1" = bad ] && echo hello
    answer "$1"
    exit
fi
while IFS= read -r line; do
    hook=$(printf '%s' "$line" | sed 's/.*"hook":"\([^"]*\)".*/\1/')
    payload=${{line#*\"payload\":}}
    case $hook in
        hang | flood) answer "$hook" ;;
        crash) echo the reason >&2; exit 1 ;;
        bad) echo hello ;;
        empty) echo ;;
        null) echo '{{"result": null}}' ;;
        error) echo '{{"error": "the reason"}}' ;;
        bare) echo '{{"extras": []}}' ;;
        twice) echo '{{"result": {{}}}}'; echo '{{"result": {{}}}}' ;;
        *) printf '{{"result": %s}}\n' "$(answer "$hook")" ;;
    esac
done
[ -e /tmp/stubborn ] && sleep 600
"""


def package(root: Path, image: str, grants: Capabilities = NOTHING, *, serve: bool = False) -> Package:
    own = root / ".samuel" / "plugins" / "org@plugin"
    own.mkdir(parents=True, exist_ok=True)
    return Package(name="org/plugin", directory=str(own), kind="oci", image=image, grants=grants, serve=serve)


def handler(entry: str, package: Package) -> Handler:
    return Handler(
        name=f"plugin:{entry}",
        event="context.extra",
        origin=Origin.PROJECT_PLUGIN,
        runtime="oci",
        entry=entry,
        package=package,
    )


def do(runtime: OciRuntime, package: Package, script: str, timeout: float = 60.0) -> Reply:
    """A shell script in the plugin's container."""
    text = base64.b64encode(script.encode()).decode()
    return runtime.call(handler("sh", package), event(task={"id": "1", "text": text}, project_root="/p"), timeout)


def done(reply: Reply) -> tuple[int, str]:
    """Its exit code and what it said."""
    assert reply.outcome is Outcome.OK, reply
    return reply.result["code"], base64.b64decode(reply.result["said"]).decode()


def containers(root: Path) -> list[str]:
    words = ["podman", "ps", "--all", f"--filter=label={container.label(str(root))}", "--format={{.Names}}"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()


def another_samuel(root: Path, image: str, cache: Path) -> str:
    """The beginning of a program with a `runtime` of its own, and a `plugin` that is kept."""
    return f"""
import os, sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from samuel.process import spawn, tree
from samuel.runtimes.oci import OciRuntime
from tests.runtimes.contract import setting
from tests.runtimes.images import do, done, package
root = Path({str(root)!r})
runtime = OciRuntime(setting(root, Path({str(cache)!r}), host=os.environ, memory={MEMORY}))
plugin = package(root, {image!r}, serve=True)
"""
