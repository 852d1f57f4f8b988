#!/usr/bin/env bash
# Asks a server for its health every 100 ms while it imports a table of a million items,
# is copied to a snapshot and deletes the table, in memory and on disk. It prints how many
# probes there were and the longest, and ends with 0 if all were answered with 200.
#
#   scripts/check-health.sh [ITEMS]
set -euo pipefail
cd "$(dirname "$0")/.."
export SORTKEY_ITEMS=${1:-1000000}
exec go test ./cmd/sortkey -run '^TestHealthWhileBusy$' -count=1 -v -timeout 60m
