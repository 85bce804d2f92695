from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.verify.answer import EXIT_CODES, Verification, worst
from samuel.verify.project import verify as verify_receipts


@command()
@click.argument("target", metavar="RECEIPT|COMMIT|RANGE")
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="COMMAND",
    help="A command of the receipt that may run, though it is not agreed to here. Can be repeated.",
)
def verify(here: CommandContext, target: str, checks: tuple[str, ...]) -> int:
    """Run the checks of a receipt again and compare.

    RECEIPT is a file that `samuel run receipt` printed; the receipt of a commit is in its note. The checks run in
    a clean work tree outside of the project. Only commands that were agreed to in this project run.

    Exit codes: 0 the same, 1 different or no receipt, 4 it cannot be verified here. A range has its worst.

    \b
        samuel verify HEAD
        samuel verify main..HEAD
    """
    with here.open() as app:
        verifications = verify_receipts(app, target, here.directory, also=checks)
    answer = worst(verification.answer for verification in verifications)
    data = {"answer": answer, "receipts": [verification.plain() for verification in verifications]}
    here.out.answer(data, "\n".join(map(_text, verifications)), ok=answer == "same")
    return EXIT_CODES[answer]


def _text(verification: Verification) -> str:
    words = [verification.answer, verification.commit[:12], verification.title]
    grade = f" ({verification.grade})" if verification.grade else ""
    lines = [" ".join(word for word in words if word) + grade]
    lines += [f"  {reason}" for reason in verification.reasons]
    return "\n".join([*lines, *(f"  note: {remark}" for remark in verification.remarks)])
