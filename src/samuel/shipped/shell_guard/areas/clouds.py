"""Clouds, clusters and services on other machines: what deletes or changes something there."""

from __future__ import annotations

import re

from samuel.shipped.shell_guard.guard_rule import GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand

CLOUD_PROGRAMS = (
    *("aws", "gcloud", "gsutil", "bq", "az", "oci", "ibmcloud", "aliyun", "doctl", "linode-cli", "hcloud", "scw"),
    *("vultr-cli", "civo", "exo", "openstack", "nova", "swift", "s3cmd", "s4cmd", "s5cmd", "mc", "b2", "azcopy"),
    *(
        "heroku",
        "fly",
        "flyctl",
        "vercel",
        "netlify",
        "render",
        "railway",
        "wrangler",
        "firebase",
        "supabase",
        "amplify",
    ),
    *("sls", "serverless", "sam", "cdk", "eb", "copilot-cli", "neonctl", "pscale", "turso", "convex", "appwrite"),
    *(
        "kubectl",
        "k",
        "oc",
        "helm",
        "kustomize",
        "kops",
        "eksctl",
        "k3d",
        "kind",
        "minikube",
        "rancher",
        "istioctl",
        "argocd",
    ),
    *(
        "flux",
        "kubeadm",
        "velero",
        "nomad",
        "consul",
        "vault",
        "boundary",
        "packer",
        "waypoint",
        "pulumi",
        "etcdctl",
    ),
    *("doppler", "op", "infisical", "chamber", "akeyless", "conjur", "bao", "step"),
    *(
        "gh",
        "glab",
        "hub",
        "circleci",
        "buildkite-agent",
        "gitlab-runner",
        "drone",
        "travis",
        "jenkins-cli",
        "tkn",
    ),
    *("rabbitmqadmin", "rabbitmqctl", "nats", "pulsar-admin", "mqadmin", "rpk", "kcat", "redpanda"),
    *("restic", "borg", "borgmatic", "duplicity", "kopia", "rclone", "bacula", "tarsnap", "duplicacy", "snapper"),
    *("newrelic", "datadog", "dog", "sentry-cli", "pd", "grafana-cli", "grafanactl", "pdctl", "opsgenie"),
    *(
        "launchdarkly",
        "ldcli",
        "unleash",
        "stripe",
        "twilio",
        "cloudflared",
        "cf",
        "fastly",
        "akamai",
        "flagsmith",
    ),
    *(
        "influx",
        "clickhouse-client",
        "cqlsh",
        "nodetool",
        "cockroach",
        "mongosh",
        "mongo",
        "redis-cli",
        "valkey-cli",
    ),
    *("curator", "meilisearch", "typesense", "algolia", "solr", "opensearch-cli", "zkcli.sh", "zookeeper-shell"),
    *(
        "dokku",
        "caprover",
        "portainer",
        "lxc",
        "incus",
        "virsh",
        "vagrant",
        "multipass",
        "qm",
        "pct",
        "vboxmanage",
    ),
    *("databricks", "snowsql", "dbt", "airflow", "prefect", "dagster", "mlflow", "wandb", "huggingface-cli"),
    *("haproxy", "traefik", "nginx", "caddy", "kong", "deck", "tailscale", "zerotier-cli", "wg", "step-ca"),
    *(
        "ansible",
        "salt",
        "chef",
        "knife",
        "puppet",
        "tower-cli",
        "awx",
        "atlas",
        "ccloud",
        "confluent",
        "aiven",
        "avn",
    ),
)
"""Programs whose subcommands change something on other machines."""

_DESTRUCTIVE = re.compile(
    r"(?:[a-z]+[-_:])?(?:del|r?delete|destroy|drop|purge|prune|remove|rm|rb|terminate|wipe|erase|flush|flushall|flushdb|uninstall|unregister"
    r"|deregister|deprovision|teardown|nuke|truncate|revoke|disable|evict|drain|empty|forget|expire|unsubscribe|detach"
    r"|reset|rollback|undeploy|unpublish|archive|suspend|stop|cordon|rmi|clear|cleanup|compact|gc|undefine|unset|scrub|shred)"
    r"(?:[-_:][\w:-]+)?(?:all|s)?",
    re.IGNORECASE,
)
_NESTED = re.compile(r"[\w-]+[:.](?:delete|destroy|remove|purge|drop|reset|unset|rm)(?:[-:]\w+)*", re.IGNORECASE)
_HARMLESS_WORDS = frozenset(
    {"stop", "archive", "reset", "drain", "empty", "compact", "gc", "cleanup", "clear", "detach"}
)
_REMOVES = re.compile(r"\brm\s+-\w*[rRf]")
_WORDS_BEFORE = 4  # how deep a subcommand may be: `gcloud compute instances delete`
_BY_QUERY = re.compile(
    r"_delete_by_query|/do(?:Delete|WipeOutWorkspace|Disable)\b|_forcemerge|/_close\b|/_shrink|/_rollover|delete[-_]?documents|/delete\b|/purge\b|/truncate\b|_all\b.*delete",
    re.IGNORECASE,
)
_KAFKA = re.compile(r"kafka-[\w-]+?(?:\.sh)?")


def _deletes_in_the_cloud(command: GuardedCommand, call: GuardedShellCall) -> bool:
    words = command.arguments
    if command.has("--dry-run", "--dryrun", "--what-if", "--help") or any(
        word.startswith("--dry-run") for word in words
    ):
        return False
    if command.program in ("kubectl", "oc", "k") and "exec" in words and any(map(_REMOVES.search, words)):
        return True
    return any(_is_destructive(word) for word in _subcommands(words))


def _subcommands(words: tuple[str, ...]) -> list[str]:
    """The words that may name what is done: the first that are no options, nor the value of one."""
    subcommands: list[str] = []
    previous_is_option = False
    for word in words:
        if word.startswith("-"):
            previous_is_option = "=" not in word
            continue
        if not previous_is_option or _is_destructive(word):
            subcommands.append(word)
        previous_is_option = False
        if len(subcommands) == _WORDS_BEFORE:
            break
    return subcommands


def _is_destructive(word: str) -> bool:
    return word not in _HARMLESS_WORDS and bool(_DESTRUCTIVE.fullmatch(word) or _NESTED.fullmatch(word))


def _deletes_with_an_option(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`kafka-topics --delete`, `aws s3 sync --delete`."""
    if command.program not in CLOUD_PROGRAMS and not _KAFKA.fullmatch(command.program):
        return False
    if command.program == "kafka-delete-records" or command.program == "kafka-delete-records.sh":
        return True
    return (
        not command.has("--dry-run", "--dryrun")
        and command.has(
            *(
                "--delete",
                "--delete-config",
                "--delete-offsets",
                "--reset-offsets",
                "--remove-acls",
                "--prune",
                "--purge",
            )
        )
    ) or (_KAFKA.fullmatch(command.program) is not None and command.has("--remove"))


def _sends_delete(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """A request that deletes: by its method, or by what its address says."""
    words = command.arguments
    pairs = zip(words, (*words[1:], ""), strict=False)
    deletes = any(
        (option in ("-X", "--request", "--method") and value.upper() == "DELETE")
        or option.upper() in ("-XDELETE", "--REQUEST=DELETE", "--METHOD=DELETE", "DELETE")
        for option, value in pairs
    )
    changes = deletes or any(
        word in ("-X", "--request", "-d", "--data", "--method")
        or word.startswith(("-XP", "--request=P", "--method=P", "-d"))
        for word in words
    )
    return deletes or (changes and any(_BY_QUERY.search(word) for word in words))


RULES = (
    GuardRule(
        "cloud-delete",
        "ask",
        "kubectl delete namespace shop",
        "It deletes, disables or stops something on other machines",
        about_command=_deletes_in_the_cloud,
        programs=CLOUD_PROGRAMS,
    ),
    GuardRule(
        "cloud-delete-option",
        "ask",
        "aws s3 sync build s3://site --delete",
        "It deletes something on other machines",
        about_command=_deletes_with_an_option,
    ),
    GuardRule(
        "cloud-change",
        "ask",
        "terraform destroy",
        "It changes or deletes infrastructure, or replaces secrets and settings in use",
        patterns=(
            "terraform|tofu|terragrunt destroy|taint|untaint|force-unlock|import|apply",
            "terraform|tofu|terragrunt state rm|mv|push|replace-provider",
            "terraform|tofu|terragrunt workspace delete",
            "terraform|tofu|terragrunt run-all destroy|apply",
            "terraform|tofu|terragrunt * -destroy",
            "pulumi destroy|up|cancel|refresh|state|stack rm|delete|unprotect|*",
            "cdk|sst|serverless|sls|sam destroy|remove|delete",
            "ansible-playbook|ansible-pull *",
            "ansible * -m|-a",
            "kubectl|oc apply|replace|patch|scale|rollout|drain|cordon|taint|exec --force|--prune|--replicas=0|--overwrite",
            "kubectl|oc replace --force",
            "kubectl|oc scale --replicas=0",
            "kubectl|oc drain|cordon|taint|evict *",
            "kubectl|oc rollout undo|restart",
            "aws iam create-*|attach-*|put-*|add-*|update-*|upload-*",
            "nomad job stop|revert|purge",
            "nomad stop -purge",
            "railway down",
            "gh gist create",
            "helm rollback|uninstall|delete|del|un",
            "aws * put-*|update-secret|modify-*|reboot-*|stop-*|cancel-*|reject-*|release-*|schedule-*|disassociate-*",
            "aws s3 mv|rm|rb !--dryrun",
            "aws s3api put-bucket-*|put-object-acl|delete-*",
            "aws ec2|rds|ecs|autoscaling|lambda|cloudformation stop-*|update-*|cancel-*|reboot-*",
            "az * * update|stop|deallocate|purge",
            "gcloud * * stop|reset|update|set-iam-policy|add-iam-policy-binding|remove-iam-policy-binding",
            "gsutil rm|rb|mv|rsync|iam|acl",
            "gh repo delete|archive|rename|edit",
            "gh release|secret|variable|ssh-key|gpg-key|label|gist|run|cache|codespace|issue|ruleset|alias delete|remove",
            "gh api -X|--method DELETE",
            "gh api DELETE",
            "glab repo|project|release|variable|ci delete|archive",
            "npm|pnpm|yarn unpublish|deprecate|publish|owner|access|token",
            "cargo yank|publish|owner",
            "twine|gem|poetry|flit|hatch upload|push|publish|yank",
            "docker|podman push|manifest *",
            "vault kv|secrets|auth|policy|lease|token|operator|audit|namespace|write|delete destroy|delete|disable|revoke|seal|metadata|rekey|rotate",
            "vault delete|seal|revoke",
            "nats stream|consumer|kv|object|account rm|del|delete|purge|restore|cluster",
            "nats kv|object put|create !--help",
            "etcdctl del|defrag|member|snapshot|auth remove|restore|disable",
            "java *jenkins-cli.jar delete-*|disable-*|safe-*|restart|shutdown|reload-*|clear-*|quiet-down|offline-node",
            "jenkins-cli delete-*|disable-*|safe-*|restart|shutdown|reload-*|clear-*",
            "borg compact",
        ),
    ),
    GuardRule(
        "request-delete",
        "ask",
        "curl -X DELETE https://api.example.com/users/1",
        "It asks a server to delete something",
        about_command=_sends_delete,
        programs=("curl", "wget", "http", "https", "xh", "httpie"),
    ),
)
