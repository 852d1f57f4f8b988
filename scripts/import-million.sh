#!/usr/bin/env bash
# Exports a generated table of one million items, imports it with sortkey import
# into a folder, prints the time and the peak memory of that, and holds the
# answers of queries to those of the database in memory. The items are the same
# at every run. Then a server imports as many items by the operation ImportTable and is
# killed three times meanwhile: the same token must find the import, and the table must
# have each item once. Last it imports as many small items into a folder and into a server,
# and exports them. It ends with 0 if all answers and all items are the same, the memory
# stayed below 300 MB, and the imports were complete.
#
#   scripts/import-million.sh [ITEMS]
set -euo pipefail
cd "$(dirname "$0")/.."
go test ./cmd/sortkey -run '^TestImportOfMany$' -count=1 -v -timeout 60m -items "${1:-1000000}"
go test ./cmd/sortkey -run '^TestKillImportTable$' -count=1 -v -timeout 60m -items "${1:-1000000}"
go test ./cmd/sortkey -run '^TestTransferOfMany$' -count=1 -v -timeout 60m -items "${1:-1000000}"
