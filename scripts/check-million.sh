#!/usr/bin/env bash
# Runs a test of the command with a million items, which prints processor time and peak memory, and fails if an answer
# is wrong or its bound of memory is passed:
#
#   scripts/check-million.sh [ITEMS [TEST]]
#
#   CheckOfMany      (default) design check of the example shop
#   KillImportTable  ImportTable of a server that is killed three times; the table has each item once
#   TransferOfMany   imports of small items into a folder and a server, and their exports
#   HealthWhileBusy  /healthz every 100 ms during an import, a snapshot and a DeleteTable
set -euo pipefail
cd "$(dirname "$0")/.."
items=${1:-1000000}
export SORTKEY_ITEMS=$items
exec go test ./cmd/sortkey -run "^Test${2:-CheckOfMany}\$" -count=1 -v -timeout 60m -items "$items"
