"""Databases: what deletes or replaces data, on this machine, in a container or elsewhere."""

from __future__ import annotations

import re

from samuel.shipped.shell_guard.command_pattern import command_pattern, matches
from samuel.shipped.shell_guard.guard_rule import GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand

_SQL = re.compile(
    r"\bdrop\s+(?:database|schema|table|index|view|user|role|tablespace|keyspace|column|constraint|function|type|owned|cluster)\b"
    r"|\btruncate\s+(?:table\s+)?[\w\"`.]+|\bdelete\s+from\s+[\w\"`.]+\s*(?:;|$|\"|')|\bdropDatabase\b|\.drop\(\)"
    r"|\b(?:deleteMany|remove)\(\s*\{?\s*\}?\s*\)|\bflush(?:all|db)\b|\balter\s+table\b.*\bdrop\b|\bdelete\s+from\b(?!.*\bwhere\b)"
    r"|\bupdate\s+\w+\s+set\b(?!.*\bwhere\b)|\bconfig\s+resetstat\b|\bxp_cmdshell\b|\bcopy\b.*\bto\s+program\b",
    re.IGNORECASE | re.DOTALL,
)
_DATABASES = (
    *(
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "sqlite",
        "mongosh",
        "mongo",
        "redis-cli",
        "valkey-cli",
        "cqlsh",
        "sqlcmd",
    ),
    *(
        "clickhouse",
        "clickhouse-client",
        "cockroach",
        "duckdb",
        "snowsql",
        "bq",
        "usql",
        "pgcli",
        "mycli",
        "litecli",
    ),
    *(
        "influx",
        "mssql-cli",
        "isql",
        "db2",
        "sqlplus",
        "trino",
        "presto",
        "beeline",
        "hive",
        "spark-sql",
        "impala-shell",
    ),
)


_PROGRAMS = (
    "dropdb|dropuser|pg_dropcluster|pg_resetwal *",
    "pg_restore -c|--clean",
    "pg_ctl|pg_ctlcluster stop|* -m",
    "mysqladmin drop|flush-*|shutdown",
    "mongorestore --drop",
    "redis-cli|valkey-cli flushall|flushdb|shutdown|debug|del|unlink|config",
    "rails|rake|bin/rails db:drop|db:reset|db:purge|db:schema:load|db:migrate:reset|db:rollback|db:truncate_all",
    "prisma migrate reset",
    "npx prisma migrate reset",
    "npx|prisma db push --force-reset|--accept-data-loss",
    "python|python3|django-admin *manage.py|flush|reset_db|sqlflush flush|reset_db|sqlflush",
    "python|python3 *manage.py flush|reset_db|sqlflush",
    "django-admin flush|reset_db",
    "php artisan migrate:fresh|migrate:refresh|migrate:reset|db:wipe",
    "artisan migrate:fresh|migrate:refresh|migrate:reset|db:wipe",
    "sequelize|knex|typeorm db:drop|migrate:rollback|schema:drop|migration:revert",
    "alembic downgrade *",
    "flyway|liquibase clean|drop-all|dropAll|undo|rollback",
    "mix ecto.drop|ecto.reset|ecto.rollback",
    "supabase db reset",
    "cockroach sql|node drain|decommission",
    "manage.py flush|reset_db|sqlflush",
    "python|python3 *manage.py migrate * zero",
    "manage.py migrate * zero",
    "dotnet ef database drop",
    "dotnet-ef database drop",
    "rabbitmqctl reset|force_reset|purge_queue|delete_queue|delete_vhost",
)
"""Programs that delete or replace a database, as patterns."""

_CONTAINERS = ("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "k", "ssh")
_SERVICES = ("wrangler", "turso", "pscale", "neonctl", "supabase", "heroku", "gcloud", "aws", "fly", "flyctl")


def _runs_sql(command: GuardedCommand, call: GuardedShellCall) -> bool:
    if command.program in _CONTAINERS and not any(_name(word) in _DATABASES for word in command.arguments):
        return False
    texts = [*command.arguments, *(line for line in call.lines if "<<" in line or "|" in line)]
    return any(_SQL.search(text) for text in texts)


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def _runs_in_a_container(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`docker exec db dropdb shop`: a program of the rule, among the words of one that starts it elsewhere."""
    return any(
        matches(pattern, command.arguments[at + 1 :])
        for at, word in enumerate(command.arguments)
        for pattern in map(command_pattern, _PROGRAMS)
        if _name(word) in pattern.programs
    )


RULES = (
    GuardRule(
        "database-drop",
        "ask",
        "psql -c 'DROP TABLE users'",
        "It deletes data of a database",
        about_command=_runs_sql,
        programs=(*_DATABASES, *_CONTAINERS, *_SERVICES),
    ),
    GuardRule(
        "database-program",
        "ask",
        "dropdb shop",
        "It deletes or replaces a database",
        patterns=_PROGRAMS,
        about_command=_runs_in_a_container,
        programs=_CONTAINERS,
    ),
)
