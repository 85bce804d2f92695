"""What is known about English beforehand: words that say nothing, and words that developers use for each other.

Both are short on purpose. What is special to a project belongs into its own keywords.
"""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about above actually after again ago ah all almost already also although always am an and another any anybody
    anyone anything are aren around as ask at away back be because been before being below best better between both
    but by bye came can cannot certain come could couldn day did didn different do does doesn doing don done down
    during each easy either else enough entire even ever every everybody everyone everything exactly few find fine
    first for from full further gave get gets getting give given go goes going gone gonna good got great guess had has
    hasn have haven having he hello help her here hey hi him his how however i idea if in instead into is isn it its
    itself just keep kind know last later least less let lets like likely little ll look looking looks lot lots made
    make makes making many matter may maybe me mean might mine minute moment more most much must my myself near need
    needed needs never next nice no nobody none nor not nothing now of off often ok okay old on once one only onto or
    other others our ours out over own part people perhaps please possible probably put quick quickly quite rather re
    really right run running runs said same saw say says see seem seems seen several shall she should shouldn show
    simple since single so some somebody someone something somewhere soon sorry still such sure take taken takes
    taking tell than thank thanks that the their theirs them then there these they thing things think this those
    though through time times to today together tomorrow too took toward try trying two under until up upon us use
    used uses using ve very via want wanted wants was wasn way we week well went were weren what whatever when where
    whether which while who whole whom whose why will wish with within without won would wouldn yeah yes yesterday yet
    you your yours yourself
    """.split()
)

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in """
    test tests check verify validate
    fix repair correct resolve
    remove delete clear purge drop
    deploy release ship rollout publish
    rollback revert undo restore
    create add new generate scaffold
    update upgrade bump refresh
    change modify edit alter
    search find query lookup
    start launch execute begin
    stop halt disable
    enable activate
    error failure exception crash bug
    docs documentation readme manual
    database db sql postgres postgresql mysql
    email mail
    image picture photo
    config configuration settings
    user customer account
    credential secret password token
    performance latency slow speed
    signup register registration
    pr pull
    vulnerability cve security
    certificate cert tls ssl https
    translation translate localisation localization i18n l10n
    lint format style
    incident outage downtime
    dependency package library
    billing invoice payment
    repository repo
    branch fork
    backup dump copy
    """.strip().splitlines()
)
