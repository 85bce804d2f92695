#!/bin/sh
# A prompt, a suggestion, a call that is recorded and counted.
set -eu
cd "$(dirname "$0")"
id="flow-$$"

samuel trust --yes
samuel session start --id "$id"

# skill_activation_prompt finds the ability and suggests it; routing has the last word.
samuel session prompt --id "$id" "Run the full billing regression tests for me."
samuel ability route --session "$id" "Run the full billing regression tests for me."

# The ability calls one operation for each suite; post_tool_use_tracker sees all of these calls.
samuel ability call billing_regression --session "$id" --input '{}'
samuel session end --id "$id"
samuel ability route "billing regression"
