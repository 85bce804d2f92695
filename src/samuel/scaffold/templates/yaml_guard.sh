#!/usr/bin/env bash
# @NAME@: a guard for @EVENT@, declared in .system/hooks/@NAME@.yaml.
#
# The event comes as JSON on stdin, the result goes as JSON to stdout.
#
#   The event has   event_type, session_id, timestamp, repository_root, @FIELDS@
#   A result has    @KEYS@
#   In full:        samuel hooks schema @EVENT@
#
# Only `decision` decides: deny, ask or allow. No output and exit code 0 mean "no opinion". What goes to stderr is
# kept: samuel hooks log --json
set -euo pipefail

event=$(cat)
echo "@NAME@ got ${#event} characters" >&2
if [[ $event == *'rm -rf'* ]]; then # an example: put here what you want to deny
    echo '@DENIAL@'
fi
