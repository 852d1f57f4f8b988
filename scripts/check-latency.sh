#!/usr/bin/env bash
# Prints the time that a query of 10 rows takes in a server, from the moment at which its client
# hands it to the system until the last byte of the answer is written: beside nothing, beside one
# and three scanners that together read so many pages of 1 MB a second, and beside exports, index
# builds and deletions of tables, in memory and on disk. It fails for no figure.
#
#   scripts/check-latency.sh [SECONDS [PAGES]]
set -euo pipefail
cd "$(dirname "$0")/.."
export SORTKEY_LATENCY="${1:-10} ${2:-300}"
exec go test ./cmd/sortkey -run '^TestLatency$' -count=1 -v -timeout 60m
