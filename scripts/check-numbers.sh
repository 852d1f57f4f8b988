#!/usr/bin/env bash
# Compares what `sortkey design check` says of a sample with a naive count of all items: for random models, and for
# two designs of twelve entities, whose figures it prints side by side. It takes some seconds a model, and ends with
# 0 if all figures are within a tenth, the findings are the same and no budget differs.
#
#   scripts/check-numbers.sh [MODELS]    100 models without an argument; SORTKEY_SEED=random draws others
set -euo pipefail
cd "$(dirname "$0")/.."
export SORTKEY_CHECKS
SORTKEY_CHECKS=$(awk -v n="${1:-100}" 'BEGIN { print n / 2 }')
exec go test ./fuzz/numbers -run '^Test(Designs|Numbers)$' -count=1 -v -timeout 12h -designs
