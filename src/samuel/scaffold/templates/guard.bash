#!/usr/bin/env bash
# @NAME@: a guard for @EVENT@.
#
#   @NAME@ hook    prints the events it is for, and its role
#   @NAME@ run     gets the event as JSON on stdin, prints its result as JSON on stdout
#
# The event has   @FIELDS@
# A result has    @KEYS@
# In full:        samuel hooks schema @EVENT@
#
# Only `decision` decides: deny, ask or allow. No output and exit code 0 mean "no opinion". What goes to stderr is
# kept: samuel hooks log --json
#
# It declares its role in its answer to `hook`: a crash, a timeout or wrong output of a guard denies too.
set -euo pipefail

case "${1:-}" in
hook)
    echo '@EVENT@ guard'
    ;;
run)
    event=$(cat)
    echo "@NAME@ got ${#event} characters" >&2
    if [[ $event == *'rm -rf'* ]]; then # an example: put here what you want to deny
        echo '@DENIAL@'
    fi
    ;;
*)
    echo "usage: ${0##*/} hook|run" >&2
    exit 2
    ;;
esac
