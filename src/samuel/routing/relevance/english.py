"""Word lists of English: words without information, words with little of it, and synonyms.

The lists are about English as developers use it, and about no particular project. The words of a project belong
into its keywords.
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
please pls possible probably put quick quickly quite rather re really right run running runs said same saw say
says see seem seems seen several shall she should shouldn show simple since single so some somebody someone
something somewhere soon sorry still such sure take taken takes taking tell than thank thanks that the their
theirs them then there these they thing things think this those though through thx time times to today together
tomorrow too took toward try trying two under until up upon us use used uses using ve very via want wanted
wants was wasn way we week well went were weren what whatever when where whether which while who whole whom
whose why will wish with within without won would wouldn yeah yes yesterday yet you your yours yourself
"""

# Words that occur in any request: they say little about what it is for.
_EVERYDAY = """
add allow app appear application apply bad base begin big block book bring bug build buy call care case cause
chance change check choose clean clear close code command compare complete condition connect contain content
continue copy correct count cover create cut data date day decide default delete design detail difference double
draw drop early edit effect end error example execute expect expensive extract fact fail fall fast feature file
fill fix form free friday friend generate group grow half hand handle happen hard head high history hold home hour
idea important improve include increase info input insert interest issue item job join kid large late learn leave
length level life light limit line list live load long lose low main manage match meaning measure meet message
middle modify monday money month morning move music name new night note number object offer open option order
output page pass past path pay person phone pick picture place plan play point power prepare present print problem
process produce program project pull push question rate reach read ready real reason receive record reduce
reference remember remind remove repeat replace reply report request rest result return role room rule saturday
save script search second section send sense set share short side sign size skip slow small sort sound source speak
special split stage stand start state stay step stop store story string strong style subject suggest sunday support
switch system talk team term test text thought thursday title top total touch track travel tuesday turn type
understand unit update user value version view visit voice wait walk warn warning watch wednesday weekend window
word work world worth wrong year
"""

# Words of requests to write code or a text, or to explain something. An ability that does not have them is not
# what such a request asks for, whatever else fits.
_OFF_TOPIC = """
abstract accessor algorithm align alphabet anchor arg argparse argument argv arithmetic array arrow assert
assignment asterisk async asyncio attribute await axis backslash base64 bash bigint binary bit bitwise bold boolean
border brace bracket breakpoint bytecode callback cast center centre char checkbox chess class click clipboard
closure codebase colon color colour comma comment commit comparator compile compiler complexity component
composition comprehension concatenate concurrency conditional conflict const constant constructor convert coroutine
css css3 curly cursor dataclass dataframe datetime deadlock debounce declaration decorator define dereference
describe destructor destructure diagram dialog dictionary digit div docstring dot dropdown editor elif
encapsulation enum equality essay explain exponent expression factorial favicon fibonacci flexbox float fold font
footer foreach fstring function garbage generic getter git goto grammar grid haiku hashmap haskell header heap
heuristic hex hint hover html html5 icon idiom idiomatic immutable imperative implement import indent indentation
inheritance inline instance instantiate int integer interface interpolate invert italic iterate iterator javascript
joke jpeg jquery json keyboard kotlin kwargs lambda layout legend letter linked listener literal logger loop
lowercase lua lyrics macro map margin markdown math memoize menu method modal modulo monad multiline multithreading
mutable mutex namespace navbar navigation nested newline null numpy oop opacity operator overload override
overwrite padding pagination palindrome pandas paragraph parameter parenthesis parse parser pattern pep8 perl php
placeholder plural poem pointer polling polymorphism popover popup prefix prime promise pronounce prototype
pseudocode quicksort quote radio react readable recipe recommend recursion recursive refactor refactoring reformat
regex regexp regular rename reverse rewrite ruby rust scala scroll semicolon sentence serialize setter shell
shortcut sidebar simplify singleton slash slider snippet song spelling spinner square stack stacktrace statement
static stdin stdout sticky struct subclass subroutine substring suffix summarise summarize superclass svg swift
symbol synonym syntax tailwind ternary textarea theorem thread throw tooltip traceback trailing tree trim truncate
tuple typescript typo ubuntu undefined underscore unicode unpack uppercase utf8 uuid variable vector vim void vue
whitespace widget width wrapper write xml yaml yield zsh
"""

# A phrase is complete without these words.
_LINKS = "a an and are as at by for from in into is it of on or our the this to with your"

# A line is a group: each word of it, in any form, finds the others. Two words that belong together have a hyphen.
# Tools stand for what people do with them.
_SYNONYMS = """
add create generate
build compile rebuild
pack package bundle
remove delete erase drop clear purge wipe flush clean discard get-rid throw-away
forget erase
start launch begin execute trigger kick-off spin-up boot
stop halt terminate kill abort cancel shut-down turn-off switch-off shut-off take-down quit
pause suspend hold freeze halt
disable deactivate turn-off switch-off
enable activate turn-on switch-on
toggle switch flag flip
deploy release ship rollout publish go-live
rollback revert undo restore go-back
restore recover bring-back get-back put-back rollback
fix repair correct resolve
change modify edit alter adjust tweak set
tune tweak adjust tuning
update upgrade bump refresh renew
refresh reload stale
increase raise grow scale expand extend widen
decrease reduce lower shrink cut
compress shrink optimise optimize reduce smaller
resize scale shrink
search query lookup grep look-up
investigate analyse analyze examine inspect diagnose triage look-into find-out figure-out what-happened went-wrong
cause reason why
test check verify validate
review feedback opinion
compare difference diff
measure benchmark profile record capture
collect gather extract fetch
import ingest load
export download dump
backup dump copy snapshot export
send deliver mail
notify notification remind inform
schedule nightly daily weekly cron automatically recurring every-day every-night every-week every-month each-night
grant give hand-out give-away award
grant allow permission access authorise authorize
ban block lock suspend kick
migrate migration alembic flyway liquibase
merge combine join
replace rotate swap exchange
retry replay requeue reprocess rerun
backfill recompute recalculate reprocess
seed populate fill
sample subset extract
fake dummy mock made-up
mask anonymise anonymize anonymous pseudonymise
label tag annotate annotation
predict prediction forecast score
evaluate assess accuracy score
submit upload publish
invite organise organize
compensate refund reimburse
pytest jest unittest junit vitest mocha test
e2e cypress playwright selenium
lint linter format formatter style eslint pylint flake8 ruff prettier
type typing typecheck mypy pyright tsc
production prod live
scaffold skeleton template boilerplate bootstrap set-up
outdated stale obsolete old behind
history historical past earlier previous
new fresh latest
error failure exception bug fault
crash freeze hang
broken fail failing red
ci jenkins build pipeline
log trace output kibana splunk
metric monitoring dashboard graph chart plot grafana prometheus datadog
statistics stats figures kpi number metric
count number how-many
docs documentation document readme manual wiki guide handbook
database db sql postgres postgresql mysql sqlite
row record entry
email mail smtp
image picture photo screenshot
text string wording
config configuration settings
user customer account
credential secret password token
permission access role rights
performance latency slow speed
memory ram
load stress traffic
signup register registration sign-up
pr pull
mr patch diff
vulnerability cve security
certificate cert tls ssl https
translation translate translator localisation localization i18n l10n locale
translation french german spanish italian portuguese japanese korean chinese
incident outage downtime alert is-down are-down
dependency package library npm pip dependabot renovate
billing invoice payment bill
cost price money spend expensive bill budget
discount sale cheaper offer
repository repo
queue kafka rabbitmq sqs backlog
stream topic kafka
cache redis memcached
phone mobile device smartphone iphone android tablet ipad
ios iphone ipad apple
machine server node host worker
server backend
cluster spark
pipeline dag airflow workflow
warehouse snowflake bigquery redshift
cloud aws gcp azure
notebook jupyter
spreadsheet excel csv xlsx
report summary readout
experiment variant
environment env
sound audio music voice
loudness volume loud quiet
fetch retrieve pull obtain
locate search lookup
wrong incorrect broken
slow sluggish lag stutter
expire expiry renew renewal
leak leaked expose exposed compromised stolen
monitor observe watch
approve approval confirm sign-off
reject decline refuse deny denied
login signin log-in sign-in authenticate authentication
buy bought purchase order
pay paid payment
refund money-back return
delivery shipping shipment parcel
stock inventory
staging sandbox preview
container docker pod kubernetes k8s helm
disk storage space
cpu memory usage utilisation utilization
domain dns
endpoint api
job task cron
ticket issue jira
flaky unstable intermittent
coverage covered uncovered
smoke sanity
accessibility a11y
analytics tracking
newsletter campaign
employee staff colleague
audit compliance
privacy gdpr personal pii
large big huge
small tiny little
version release
people user customer
history timeline
explain explanation interpret
finish complete done
widen increase
share percentage percent
"""

SOURCE_FILE = "sourcefile"
"""Stands for the name of any source file in a request."""

STOP_WORDS = frozenset(_STOP.split())
EVERYDAY_WORDS = frozenset(_EVERYDAY.split())
OFF_TOPIC_WORDS = frozenset({SOURCE_FILE, *_OFF_TOPIC.split()})
LINKS = frozenset(_LINKS.split())
SYNONYMS = tuple(tuple(word.replace("-", "") for word in line.split()) for line in _SYNONYMS.strip().splitlines())
