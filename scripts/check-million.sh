#!/usr/bin/env bash
# Checks the example shop with a million generated items, and prints the
# processor time and the peak memory of that. It ends with 0 if the check ran and
# the memory stayed below its bound.
#
#   scripts/check-million.sh [ITEMS]
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test ./cmd/sortkey -run '^TestCheckOfMany$' -count=1 -v -timeout 60m -items "${1:-1000000}"
