#!/usr/bin/env bash
# Exports a generated table of one million items, imports it with sortkey import
# into a folder, prints the time and the peak memory of that, and holds the
# answers of queries to those of the database in memory. The items are the same
# at every run. It ends with 0 if all answers are the same and the memory stayed
# below 300 MB.
#
#   scripts/import-million.sh [ITEMS]
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test ./cmd/sortkey -run '^TestImportOfMany$' -count=1 -v -timeout 60m -items "${1:-1000000}"
