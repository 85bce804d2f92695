"""Containers: what deletes their data, and what gives them the files or rights of this machine."""

from __future__ import annotations

import re
from itertools import pairwise

from samuel.shipped.shell_guard.guard_rule import GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand

_ROOTS = (
    r"(?:/|/etc|/root|/home|/usr|/var|/var/run/docker\.sock|/run/docker\.sock|~|\$HOME|\$\{HOME\}|/dev|/proc|/sys"
)
_ROOTS += r"|(?:~|\$HOME|\$\{HOME\})/\.(?:ssh|aws|gnupg|kube|azure|docker|config(?:/\w+)?|netrc))/?"
_VOLUME = re.compile(rf"(?:--volume=|-v=?)?{_ROOTS}:")
_MOUNT = re.compile(rf"(?:--mount=)?(?:[^,]*,)*(?:source|src)={_ROOTS}(?:,|$)")


def _shares_the_machine(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`-v /:/host`, `--mount type=bind,source=/,target=/host`."""
    for previous, word in pairwise(("", *command.arguments)):
        is_volume = previous in ("-v", "--volume") or word.startswith(("-v", "--volume="))
        is_mount = previous == "--mount" or word.startswith("--mount=")
        if (is_volume and _VOLUME.match(word)) or (is_mount and _MOUNT.match(word)):
            return True
    return False


RULES = (
    GuardRule(
        "container-data",
        "ask",
        "docker system prune -a --volumes",
        "It deletes containers, images or volumes with their data",
        patterns=(
            "docker|podman|nerdctl system|volume|image|container|network|builder|buildx prune|reset",
            "docker|podman|nerdctl volume rm|remove",
            "docker|podman|nerdctl system prune|reset|migrate",
            "docker|podman|nerdctl rm|container -f|--force",
            "docker|podman|nerdctl rm -v|--volumes",
            "docker|podman|nerdctl rmi -f|--force",
            "docker|podman|nerdctl image rm -f|--force",
            "docker|podman compose down -v|--volumes",
            "docker|podman compose rm|down --volumes|-v",
            "docker-compose|podman-compose down|rm -v|--volumes",
            "docker|podman stack|service|swarm|secret|config|node|context|plugin rm|remove|leave",
            "docker|podman swarm leave",
            "podman pod rm|prune",
            "docker|podman|nerdctl kill|stop *",
            "crictl rm|rmi|rmp|stopp",
            "ctr images|containers|i|c rm|delete|remove",
            "k3d|kind cluster|delete delete|cluster",
        ),
    ),
    GuardRule(
        "container-host",
        "ask",
        "docker run -v /:/host alpine",
        "It gives a container the files or the rights of this machine",
        patterns=(
            "docker|podman|nerdctl run|create|exec --privileged",
            "docker|podman|nerdctl run|create --pid=host|--ipc=host|--cap-add=ALL|--cap-add=SYS_ADMIN|--cap-add=SYS_PTRACE|--userns=host",
        ),
        about_command=_shares_the_machine,
        programs=("docker", "podman", "nerdctl", "ctr"),
    ),
)
