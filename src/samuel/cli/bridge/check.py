from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError, UsageError
from samuel.bridges.check import BridgeCheck
from samuel.bridges.check import check as check_bridge
from samuel.bridges.files import BridgeContext
from samuel.bridges.proofs import Proof
from samuel.cli.bridge import bridge_context, known_clients
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.clients.table import LAYOUTS
from samuel.process.inside_a_run import inside_a_run

COLUMNS = ("agent", "verdict", "about")


@command()
@click.argument("agents", nargs=-1, metavar="AGENT...")
@click.option(
    "--live",
    is_flag=True,
    help="Also run the agent, against a model on this machine: one command must be denied, another must not.",
)
@click.option("--all", "everything", is_flag=True, help="With --live: every event and every fault, as a table.")
@click.option("--markdown", is_flag=True, help="With --all: the table as Markdown, with its date.")
def check(here: CommandContext, agents: tuple[str, ...], live: bool, everything: bool, markdown: bool) -> int:
    """Check that an agent's hooks ask Samuel.

    Looks at the agent's files, at whether the agent trusts them, and at the command that they name. With `--live`
    the installed agent is also run in this project, with your own settings: no key is used, and no network is
    needed. Its verdict is `ok`, `drift` (the agent ran a command without asking Samuel, or in spite of its
    denial), `inconclusive` (the agent did not get as far as that) or `error`. The verdict is remembered: `samuel
    doctor` shows it. Exits with 1 if something keeps the hooks from working, or if the verdict is not `ok`.

    With `--live --all` each installed agent is run in a home and a project of its own instead, which are removed
    again: what it does with a denial and a rewritten input, and whether a call is denied where a guard or the
    program of its hooks fails. Without AGENT, all of them. Exits with 1 if a denial is not honoured.

    \b
        samuel bridge check claude
        samuel bridge check --live claude codex
        samuel bridge check --live --all --markdown > agents.md
    """
    if (everything and not live) or (markdown and not everything):
        option, needs = ("--markdown", "--live --all") if markdown else ("--all", "--live")
        raise UsageError(f"`{option}` is for what was run", f"add `{needs}`")
    if not agents and not everything:
        raise UsageError("no agent is named", "name one or more, like `samuel bridge check claude`")
    if live and (run := inside_a_run()):
        what = f"this is inside the run `{run}`, which does not run another agent"
        raise SamuelError(what, "check without `--live`, or use another terminal")
    context = bridge_context(here)
    if everything:
        return _matrix(here, context, known_clients(agents or tuple(LAYOUTS)), markdown)
    checks = [check_bridge(context, client) for client in known_clients(agents)]
    proofs = [_proof(here, context, checked) if live else None for checked in checks]
    rows = [row for checked, proof in zip(checks, proofs, strict=True) for row in _rows(checked, proof)]
    data = [_plain(checked, proof) for checked, proof in zip(checks, proofs, strict=True)]
    ok = all(checked.ok for checked in checks) and all(proof is None or proof.verdict == "ok" for proof in proofs)
    return here.out.answer(data, OutputTable(COLUMNS, rows, folded=("about",)), ok=ok)


def _matrix(here: CommandContext, context: BridgeContext, clients: Sequence[str], as_markdown: bool) -> int:
    from samuel.proving.matrix import table  # a web server, which no other command needs

    tell = (lambda line: None) if here.out.json else here.out.tell
    rows = table.matrix(clients, context.root, context.user, os.environ, tell)
    ok = not table.failed(rows)
    if as_markdown and not here.out.json:
        click.echo(table.markdown(rows, iso(SystemClock().now())[:10]), nl=False)
        return 0 if ok else 1
    return here.out.answer([row._asdict() for row in rows], OutputTable(table.COLUMNS, rows), ok=ok)


def _proof(here: CommandContext, context: BridgeContext, checked: BridgeCheck) -> Proof | None:
    """The proof by a run of the client; None without entries, since there is nothing to prove."""
    if not checked.entries and not checked.managed:
        return None
    from samuel.proving.proof import prove  # a web server, which no other command needs

    if not here.out.json:
        here.out.tell(f"running {checked.client} against a model on this machine; this can take a minute")
    return prove(checked.client, context.root, context.user, os.environ, SystemClock().now())


def _rows(checked: BridgeCheck, proof: Proof | None) -> list[list[str]]:
    rows = [[checked.client, "problem", problem] for problem in checked.problems]
    if checked.ok:
        places = ", ".join(str(entry.file) for entry in checked.entries) or "the file of an administrator"
        rows.append([checked.client, "ok", f"its hooks ask Samuel: {places}"])
    rows += [[checked.client, "note", note] for note in checked.notes]
    if proof is not None:
        version = f" ({proof.version})" if proof.version else ""
        rows.append([checked.client, proof.verdict, f"live{version}: {proof.why}"])
    return rows


def _plain(checked: BridgeCheck, proof: Proof | None) -> dict[str, Any]:
    return {
        "client": checked.client,
        "ok": checked.ok,
        "files": [{"level": entry.level, "file": str(entry.file)} for entry in checked.entries],
        "trust": {level: step.state for level, step in checked.trust.items()},
        "managed": checked.managed,
        "program": checked.program,
        "problems": list(checked.problems),
        "notes": list(checked.notes),
        "live": msgspec.to_builtins(proof),
    }
