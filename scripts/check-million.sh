#!/usr/bin/env bash
# Runs a test of the command with a million items, which prints processor time and peak memory, and fails if an answer
# is wrong or its bound of memory is passed:
#
#   scripts/check-million.sh [ITEMS [TEST]]
#
#   CheckOfMany      (default) design check of the example shop
#   ImportOfMany     an import into a folder; its queries answer as those of the database in memory
#   KillImportTable  ImportTable of a server that is killed three times; the table has each item once
#   TransferOfMany   imports of small items into a folder and a server, and their exports
#   HealthWhileBusy  /healthz every 100 ms during an import, a snapshot and a DeleteTable
#   Latency          a query of 10 rows beside scanners, exports, index builds and deletions of tables
set -euo pipefail
cd "$(dirname "$0")/.."
items=${1:-1000000}
export SORTKEY_ITEMS=$items SORTKEY_LATENCY=${SORTKEY_LATENCY:-10 300} # of Latency: seconds, pages a second
exec go test ./cmd/sortkey -run "^Test${2:-CheckOfMany}\$" -count=1 -v -timeout 60m -items "$items"
