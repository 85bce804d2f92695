"""Signing receipts by git's own means, as the page about receipts says."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from tests.verify.conftest import Shop
from tests.verify.guide import blocks

SIGNED, SIGNED_NOTES, READER = blocks("Push and sign")[1:]


def typed(shop: Shop, block: str) -> subprocess.CompletedProcess[str]:
    """Type a block of the page in the shop."""
    return subprocess.run(["sh", "-ec", block], cwd=shop.root, env=shop.variables, capture_output=True, text=True)


@pytest.fixture
def signing(new_shop: Shop) -> Shop:
    """A shop whose owner has an ssh key, and signs commits with it."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("NOT TESTED: ssh-keygen is not installed")
    key = new_shop.directory / "home/.ssh/id_ed25519"
    key.parent.mkdir(mode=0o700)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    assert typed(new_shop, SIGNED).returncode == 0
    return new_shop


def test_commit_and_notes_are_signed_and_a_reader_can_check_both(signing: Shop) -> None:
    signing.run()
    ran = typed(signing, SIGNED_NOTES + READER)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count('Good "git" signature for you@example.org') == 2
    assert signing.verify("HEAD").code == 0, "the receipt is the same after its notes were signed"


def test_notes_that_were_not_signed_or_changed_afterwards_have_no_signature(signing: Shop) -> None:
    signing.run()
    assert typed(signing, READER).returncode != 0
    assert typed(signing, SIGNED_NOTES + READER).returncode == 0
    signing.git("notes", "--ref=samuel", "add", "--force", "-m", "forged", "HEAD")
    assert typed(signing, READER).returncode != 0


def test_commit_with_another_receipt_does_not_have_the_signature(signing: Shop) -> None:
    signing.run()
    assert typed(signing, SIGNED_NOTES + READER).returncode == 0
    signing.git("-c", "commit.gpgSign=false", "commit", "-q", "--amend", "--no-edit")
    assert typed(signing, "git verify-commit HEAD").returncode != 0


def test_run_whose_commits_cannot_be_signed_says_so(signing: Shop) -> None:
    (signing.directory / "home/.ssh/id_ed25519").unlink()
    signing.add_task()
    before = signing.git("rev-parse", "HEAD")
    ran = signing.samuel("run", "start", "--yes")
    assert signing.git("rev-parse", "HEAD") == before
    assert "warning: the commit of task 1 failed" in ran.out
    assert "No private key found" in ran.out
