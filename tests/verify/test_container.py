"""Receipts of work that was checked in a container: its checks run again in the same image."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from tests.verify.conftest import Shop
from tests.verify.test_verify import answer, remarks

# The image of the test has no such directory.
CHECK = "test ! -e /usr/bin && sh ./check.sh"
OWN = "grep -q fixed work.txt"
CONFIG = """\
[methodology.ralph]
agent = "mine"
pause = "0s"
commit = true
quality_checks = ["{check}"]
sandbox = {{ kind = "oci", image = "{image}" }}

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
"""
AGENT = """\
#!/bin/sh
cat > /dev/null
test ! -e /usr/bin && echo fixed > work.txt
samuel run done "$SAMUEL_TASK_ID" > /dev/null
"""


@pytest.fixture
def image(busybox_image: str) -> Iterator[str]:
    """A name of the image that the test may give to another one."""
    name = busybox_image.replace("busybox", "checks")
    subprocess.run(["podman", "tag", busybox_image, name], check=True, capture_output=True)
    yield name
    subprocess.run(["podman", "rmi", "--force", name], capture_output=True)


@pytest.fixture
def contained(new_shop: Shop, image: str) -> Shop:
    (new_shop.root / "samuel.toml").write_text(CONFIG.format(check=CHECK, image=image))
    (new_shop.root / "agent.sh").write_text(AGENT)
    (new_shop.root / "check.sh").write_text("test -s work.txt\n")
    (new_shop.root / "work.txt").write_text("broken\n")
    new_shop.git("add", "-A")
    new_shop.git("commit", "-q", "-m", "checks in a container")
    new_shop.add_task(checks=(OWN,))
    ran = new_shop.samuel("run", "start", "--yes")
    assert ran.code == 0, ran
    return new_shop


def test_checks_run_again_in_the_image_of_the_receipt(contained: Shop, image: str) -> None:
    predicate = contained.note()["predicate"]
    assert predicate["grade"] == "proven"
    sandbox = predicate["environment"]["sandbox"]
    assert (sandbox["kind"], sandbox["image"], len(sandbox["imageId"])) == ("oci", image, 64)
    clone = contained.clone()
    assert answer(clone, "HEAD", "--check", OWN) == (0, "same", "")
    assert remarks(contained) == ""


def test_image_of_the_same_name_with_other_content_is_named(
    contained: Shop, image: str, busybox_image: str
) -> None:
    change = ["podman", "import", "--change=LABEL=other=1", "-", image]
    packed = subprocess.run(["podman", "save", busybox_image], check=True, capture_output=True).stdout
    load = ["tar", "-xO", "--wildcards", "*.tar"]
    layer = subprocess.run(load, input=packed, check=True, capture_output=True).stdout
    subprocess.run(change, input=layer, check=True, capture_output=True)
    assert answer(contained, "HEAD") == (0, "same", "")
    assert f"the image `{image}` is another one here than in the receipt" in remarks(contained)


def test_image_that_is_not_here_cannot_be_used_and_the_answer_says_how_to_get_it(
    contained: Shop, image: str
) -> None:
    subprocess.run(["podman", "rmi", image], check=True, capture_output=True)
    code, word, reason = answer(contained, "HEAD")
    assert (code, word) == (4, "cannot")
    assert f"does not have the image `{image}`" in reason
    assert f"pull {image}` gets it" in reason


def test_project_without_the_sandbox_of_the_receipt_runs_nothing(contained: Shop) -> None:
    config = contained.root / "samuel.toml"
    text = config.read_text()
    config.write_text("\n".join(line for line in text.splitlines() if not line.startswith("sandbox")))
    code, word, reason = answer(contained, "HEAD")
    assert (code, word) == (4, "cannot")
    assert "samuel.toml does not name the image of its checks" in reason
