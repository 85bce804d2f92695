#!/bin/sh
# A question, an intent, the documents for it.
set -eu
cd "$(dirname "$0")"
id="flow-$$"

samuel trust --yes
samuel session start --id "$id"

# knowledge_trigger knows these words and emits `new_intent`, which the session keeps for knowledge routing.
samuel session prompt --id "$id" "Before I commit, what checks should I run?"
samuel knowledge route --session "$id"
samuel session end --id "$id"
