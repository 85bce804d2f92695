"""`make demo`: an event going through a real chain, in a project of its own that stays there to look at."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PLACE = REPOSITORY / ".demo"
SAMUEL = Path(sys.executable).with_name("samuel")
CALLS = ("sudo ls /tmp", "sudo rm -rf ~/precious")


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    project = PLACE / "project"
    project.mkdir(parents=True)

    title("A project with three hooks that came with it: two rewrite a call, one guards it")
    samuel("init")
    shutil.copytree(REPOSITORY / "examples" / "demo-hooks", project / ".samuel" / "hooks", dirs_exist_ok=True)

    title("Nothing of it runs before its owner agreed")
    samuel("hooks", "list", "--event", "PreAbilityCall")
    samuel("trust", "--yes", quiet=True)

    title("The resolved chain, and why everyone stands where they stand")
    samuel("hooks", "explain", "PreAbilityCall")

    for command in CALLS:
        title(f"An agent wants to run: {command}")
        fire(command)

    title("What happened, from the journal")
    samuel("hooks", "log", "--event", "PreAbilityCall")
    print(f"\nThe project is still there to play with:  cd {project.relative_to(Path.cwd())}")
    print(f"Its own state is kept apart from yours:   export HOME={PLACE / 'home'}")


def fire(command: str) -> None:
    payload = json.dumps({"ability_id": "shell", "tool_input": {"command": command}})
    fired = json.loads(samuel("hooks", "fire", "PreAbilityCall", "--payload", payload, quiet=True))
    for call in fired["chain"]:
        print(f"  {call['handler']:<12} {call['outcome']:<8} {call['duration_ms']:8.1f} ms  {call['message']}")
    result = fired["result"]
    print(
        f"  runs:    {result.get('tool_input', {}).get('command', command)}"
        if fired["ok"]
        else f"  DENIED:  {result['reason']}"
    )


def samuel(*arguments: str, quiet: bool = False) -> str:
    home = PLACE / "home"
    environment = {
        **os.environ,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    if not quiet:
        print(f"  $ samuel {' '.join(arguments)}")
    done = subprocess.run(
        [SAMUEL, *arguments],
        cwd=PLACE / "project",
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode > 1:
        sys.exit(f"`samuel {' '.join(arguments)}` ended with exit code {done.returncode}")
    if not quiet:
        print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="")
    return done.stdout


def title(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()
