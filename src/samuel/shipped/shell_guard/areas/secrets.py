"""Reading secrets, and sending data away."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import pairwise

from samuel.shipped.shell_guard.areas import sending
from samuel.shipped.shell_guard.file_uses import READERS
from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import FileUse, GuardedCommand
from samuel.shipped.shell_guard.places import Where
from samuel.shipped.shell_guard.unread_code import quoted_texts, sends_data

_KEY_FILES = re.compile(
    r"(?:.*/)?(?:\.ssh/(?!config(?:/x)?$|known_hosts|.*\.pub(?:/x)?$|authorized_keys(?:/x)?$).+|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.gnupg/.+"
    r"|\.aws/(?:credentials|sso/.+|cli/cache/.+)|\.config/gcloud/(?!configurations|active_config).+|\.azure/.+|\.kube/config"
    r"|\.docker/config\.json|\.netrc|_netrc|\.git-credentials|\.config/git/credentials|\.pypirc|\.npmrc|\.pgpass"
    r"|\.my\.cnf|\.vault-token|\.config/gh/hosts\.yml|\.terraform\.d/credentials.*|\.password-store/.+|\.cargo/credentials.*"
    r"|\.gem/credentials|\.bundle/config|\.config/rclone/rclone\.conf|\.s3cfg|\.boto|\.config/op/.+|\.electrum/.+|wallet\.dat"
    r"|.+\.(?:kdbx|keystore|jks|p12|pfx)|\.bash_history|\.zsh_history|\.python_history|\.psql_history|\.mysql_history)",
    re.IGNORECASE,
)
_KEY_DIRECTORIES = re.compile(
    r".*/(?:\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.config/(?:gcloud|gh|op)|\.password-store|\.mozilla|\.config/google-chrome)",
    re.IGNORECASE,
)
_KEY_NAMES = (
    *(
        "id_rsa",
        "id_ed25519",
        "id_ecdsa",
        ".netrc",
        ".git-credentials",
        ".pgpass",
        ".npmrc",
        ".pypirc",
    ),
    *("credentials", ".env", ".env.local", "server.pem", "server.key", "x.kdbx", "x.p12", "x.pfx", "x.jks"),
)
"""Names that a search for secrets would look for."""
SHORTEST_NAME = 3  # letters of a pattern; `*c` looks for something else
_SECRET_VARIABLE = re.compile(
    r"\$\{?((?:\w+_)?(?:TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)(?:_(?!ID\b|NAME|FILE|PATH|URL)\w+)?)"
    r"(?:\}|\b(?![:}#%+-]))"
)
_BROWSERS = re.compile(
    r".*/(?:\.mozilla/firefox|\.config/(?:google-chrome|chromium|BraveSoftware|microsoft-edge)|Library/Keychains"
    r"|Library/Application Support/(?:Google|Firefox|BraveSoftware|Microsoft Edge)|Library/Cookies"
    r"|\.local/share/keyrings|snap/(?:firefox|chromium)/.*)(?:/.*)?",
    re.IGNORECASE,
)
_SYSTEM_SECRETS = re.compile(
    r"/etc/(?:shadow-?|gshadow-?|sudoers(?:\.d/.*)?|ssl/private/.*|ssh/ssh_host_.*_key|krb5\.keytab|kubernetes/.*)"
    r"|/proc/[^/]+/(?:environ|mem)|/var/run/secrets/.*|/run/secrets/.*|/dev/k?mem|/etc/master\.passwd",
)
_PROJECT_SECRETS = re.compile(
    r"(?:.*/)?(?:\.env(?:\..+)?|\.envrc|.+\.(?:pem|key|ppk)|secrets?(?:\.\w+)?\.(?:ya?ml|json|toml)"
    r"|credentials?\.(?:json|ya?ml|toml)|service[-_]?account.*\.json|\.secrets?/.+|secrets/.+|\.htpasswd|master\.key)",
    re.IGNORECASE,
)
_SAMPLES = re.compile(
    r".*\.(?:example|sample|template|dist|tmpl|defaults?|pub|md|test)$|.*(?:example|sample|fixture|/tests?/).*",
    re.IGNORECASE,
)
_NO_SECRET_USE = frozenset(
    {"rm", "touch", "chmod", "ssh-keygen", "ssh-add", "ssh", "ssh-copy-id", "mkdir", "chown", "git"}
)
"""Programs that use such a file without showing it."""
_LOADED = re.compile(
    r"^\s*(?:env|export)\s+(?:\$\(|`)\s*(?:cat|grep|sed)\b[^;&]*\.env\b[^;&]*[)`](?:\s+[\w./ -]+)?$"
)
_NAMING_KEYS = frozenset({"scp", "sftp", "rsync", "ssh"})
_EDITORS = frozenset({"nano", "vi", "vim", "nvim", "emacs", "ed", "ex", "pico", "micro", "code"})
_LOADERS = frozenset({"source", ".", "sops", "docker", "dotenv"})
_STORES = frozenset(
    {"aws", "gsutil", "gcloud", "az", "rclone", "s3cmd", "gh", "scp", "rsync", "sftp", "mc", "http", "https", "xh"}
)
"""Programs that copy the files they name to another machine."""


def _reads_keys(use: FileUse, call: GuardedShellCall) -> bool:
    if (use.program in _NO_SECRET_USE and "--no-index" not in use.text) or use.mode == "delete":
        return False
    if use.program in _NAMING_KEYS and "-i" in use.text.split():
        return False  # `scp -i key`
    path = use.file.path
    if use.file.where.is_project:
        return False
    names = (path, f"{path}/x")  # the file, or whatever is in the directory
    is_secret = bool(_KEY_DIRECTORIES.fullmatch(path)) or any(
        pattern.fullmatch(name) for name in names for pattern in (_KEY_FILES, _BROWSERS, _SYSTEM_SECRETS)
    )
    return is_secret and (use.mode in ("read", "use") or use.program in _EDITORS)


def _finds_keys(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`find ~ -name id_rsa -exec cat {} +`: what find hands to a program that shows it is not in the text."""
    words = command.arguments
    runs = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-exec", "-execdir", "-ok", "-okdir")]
    programs = [*runs, *(other.program for other in call.commands if other.command.open_ended)]
    if not any(program.rpartition("/")[2] in READERS for program in programs):
        return False
    names = [value for option, value in pairwise(words) if option in ("-name", "-iname", "-path", "-ipath")]
    if any(_looks_for_keys(name.rpartition("/")[2]) for name in names):
        return True
    first_option = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    roots = [path for word in words[:first_option] for path in call.resolved(word, command.directories)]
    return any(root is not None and _KEY_DIRECTORIES.fullmatch(root.path) for root in roots)


def _looks_for_keys(pattern: str) -> bool:
    is_special = len(pattern.strip("*")) >= SHORTEST_NAME and "[" not in pattern
    return is_special and any(fnmatchcase(name, pattern) for name in _KEY_NAMES)


def _code_reads_keys(call: GuardedShellCall) -> str:
    """Code of another language that names a key, or a file with secrets in code that sends something."""
    for part in call.opaque:
        for text in quoted_texts(part.code) if part.code else ():
            is_key = "/" in text and any(
                pattern.fullmatch(text) for pattern in (_KEY_FILES, _BROWSERS, _SYSTEM_SECRETS)
            )
            is_secret = bool(_PROJECT_SECRETS.fullmatch(text)) and not _SAMPLES.fullmatch(text)
            if is_key or (is_secret and sends_data(part.code)):
                return part.text
    return ""


def _shows_a_variable(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`echo $GITHUB_TOKEN`; a login may get its password so."""
    if any("login" in other.arguments or "--password-stdin" in other.arguments for other in call.commands):
        return False
    if any(redirect.writes for redirect in command.command.redirects):
        return False
    if command.program == "printenv":
        return any(_SECRET_VARIABLE.match(f"${{{word}}}") for word in command.operands)
    return any(
        _SECRET_VARIABLE.search(word)
        for at, word in enumerate(command.command.words)
        if at in command.command.unknown
    )


def _reads_project_secrets(use: FileUse, call: GuardedShellCall) -> bool:
    if use.program in READERS and any(_LOADED.search(line) for line in call.lines):
        return False  # `export $(cat .env | xargs)`
    is_read = use.mode == "read" or (use.mode == "use" and use.program in _STORES)
    if not is_read or use.program in _NO_SECRET_USE | _LOADERS or use.file.where is Where.BUILD:
        return False
    if use.program == "openssl" and re.search(r"-(?:noout|pubout)\b|\bx509\b|\bverify\b", use.text):
        return False
    path = use.file.path
    name = f"{path}/{use.file.pattern}" if use.file.pattern else path
    is_key = bool(_PROJECT_SECRETS.fullmatch(name) or (use.file.where.is_project and _KEY_FILES.fullmatch(name)))
    return is_key and not _SAMPLES.fullmatch(call.places.relative(name)) and not path.endswith("/.npmrc")


RULES = GuardArea(
    "secrets",
    (
        GuardRule(
            "read-keys",
            "deny",
            "cat ~/.ssh/id_ed25519",
            "It reads a private key, a password or a login of the user",
            about_file=_reads_keys,
        ),
        GuardRule(
            "find-keys",
            "deny",
            "find ~ -name id_rsa -exec cat {} +",
            "It looks for private keys or files with secrets, and shows them",
            about_command=_finds_keys,
            programs=("find", "gfind"),
        ),
        GuardRule(
            "code-reads-keys",
            "deny",
            "python3 -c \"print(open('/root/.ssh/id_rsa').read())\"",
            "Code of another language reads a private key, a password or a login, or sends a file with secrets",
            about_call=_code_reads_keys,
        ),
        GuardRule(
            "show-secret-variable",
            "ask",
            "echo $GITHUB_TOKEN",
            "It shows a variable that holds a secret by its name",
            about_command=_shows_a_variable,
            programs=("echo", "printf", "printenv"),
        ),
        GuardRule(
            "read-project-secrets",
            "ask",
            "cat .env",
            "It reads a file of the project that holds secrets",
            about_file=_reads_project_secrets,
        ),
        GuardRule(
            "show-secret",
            "ask",
            "security find-generic-password -w -s login",
            "It shows a secret of a key store or a login",
            patterns=(
                "security find-generic-password|find-internet-password|dump-keychain|export|find-certificate",
                "gh|glab auth token",
                "gh auth status --show-token|-t",
                "gcloud auth print-access-token|print-identity-token|application-default",
                "aws configure export-credentials|get",
                "aws sts get-session-token|assume-role",
                "aws ecr get-login*",
                "az account get-access-token",
                "aws secretsmanager get-secret-value|batch-get-secret-value",
                "aws ssm get-parameter|get-parameters|get-parameters-by-path|get-parameter-history --with-decryption",
                "gcloud secrets versions access",
                "az keyvault secret show|download",
                "op item|document get",
                "doppler secrets download|get",
                "infisical secrets|export",
                "chamber read|export|env",
                "sops -d|--decrypt",
                "sops decrypt",
                "ansible-vault view|decrypt",
                "heroku config:get",
                "npm|pnpm|yarn config get *_auth*|*token*|*password*",
                "git credential fill",
                "rbw get *",
                "op read|inject *",
                "pass show|-c|*",
                "gopass show|*",
                "bw get|list|export|unlock",
                "lpass show|export",
                "secret-tool lookup|search",
                "gpg|gpg2 --export-secret-keys|--export-secret-subkeys",
                "ssh-add -L|-D",
                "kwallet-query|keyring *",
                "kubectl get secret|secrets -o|--output",
                "docker secret inspect",
                "kubectl config view --raw",
                "heroku config",
                "mimikatz|lazagne|unshadow|john|hashcat",
            ),
        ),
        *sending.RULES,
    ),
)
