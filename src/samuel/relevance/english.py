"""What is known about English beforehand: words that say nothing, and words that developers use for each other.

Both lists are short on purpose. What is special to a project belongs into its own keywords.
"""

from __future__ import annotations

_STOP = """
a about above actually after again ago ah all almost already also although always am an and another any
anybody anyone anything are aren around as ask at away back be because been before being below best better
between both but by bye came can cannot certain come could couldn day did didn different do does doesn doing
don done down during each easy either else enough entire even ever every everybody everyone everything
exactly few find fine first for from full further gave get gets getting give given go goes going gone gonna
good got great guess had has hasn have haven having he hello help her here hey hi him his how however i idea
if in instead into is isn it its itself just keep kind know last later least less let lets like likely
little ll look looking looks lot lots made make makes making many matter may maybe me mean might mine minute
moment more most much must my myself near need needed needs never next nice no nobody none nor not nothing
now of off often ok okay old on once one only onto or other others our ours out over own part people perhaps
please possible probably put quick quickly quite rather re really right run running runs said same saw say
says see seem seems seen several shall she should shouldn show simple since single so some somebody someone
something somewhere soon sorry still such sure take taken takes taking tell than thank thanks that the their
theirs them then there these they thing things think this those though through time times to today together
tomorrow too took toward try trying two under until up upon us use used uses using ve very via want wanted
wants was wasn way we week well went were weren what whatever when where whether which while who whole whom
whose why will wish with within without won would wouldn yeah yes yesterday yet you your yours yourself
"""

# Words of any request to change any program: they say little about what it is for.
_COMMON = """
add app application argument array block bug button call case change check class code command comment component
condition constant convert create data default define delete edit element error example explain extract field file
fix form function generate handle helper implement improve input insert issue item line list loop message method
modify module move name new number object open option output page parameter path print problem project read
refactor remove rename replace result return rewrite save script section set show simplify snippet sort split
statement string text title update user value variable window word write
"""

# May be missing from a phrase that is otherwise complete.
_LINKS = "a an and are as at by for from in into is it of on or our the this to with your"

# A line is a group: each word of it, in any form, finds the others. Tools stand for what people do with them.
_SYNONYMS = """
test check verify validate
test pytest jest unittest junit vitest mocha
e2e cypress playwright selenium
lint linter format formatter style eslint pylint flake8 ruff prettier
type typing typecheck mypy pyright tsc
fix repair correct resolve
remove delete clear purge drop flush
deploy release ship rollout publish
production prod live
rollback revert undo restore
create add generate
scaffold skeleton template boilerplate bootstrap
update upgrade bump refresh
outdated stale obsolete
change modify edit alter
search query lookup grep
start launch execute begin
stop disable deactivate
enable activate
toggle switch flag
error failure exception crash bug
log trace output kibana splunk
metric monitoring dashboard graph chart plot grafana prometheus datadog
docs documentation document readme manual
database db sql postgres postgresql mysql sqlite
migration migrate alembic flyway liquibase
backup dump copy export
seed populate fill
sample fake dummy mock
email mail smtp
image picture photo
resize compress shrink optimise optimize
config configuration settings
user customer account
credential secret password token
performance latency slow speed
load stress traffic
signup register registration
pr pull
mr patch diff
vulnerability cve security
certificate cert tls ssl https
translation translate localisation localization i18n l10n
incident outage downtime alert
dependency package library npm pip dependabot renovate
billing invoice payment
repository repo
queue kafka rabbitmq sqs
cache redis memcached
retry replay requeue reprocess
backfill recompute recalculate reprocess
rotate replace
"""

STOP_WORDS = frozenset(_STOP.split())
COMMON_WORDS = frozenset(_COMMON.split())
LINKS = frozenset(_LINKS.split())
SYNONYMS = tuple(tuple(line.split()) for line in _SYNONYMS.strip().splitlines())
