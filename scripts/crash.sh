#!/usr/bin/env bash
# Kills processes that write, again and again, and holds what a folder has
# afterwards to what was acknowledged: an engine on disk, also while it is copied;
# a server with several clients, in a new folder or an old one, also while an index
# is created or deleted; snapshots, restores and imports; and random histories that
# are cut off or run out of space. Each run has new random seeds, which a failure
# prints; SORTKEY_SEED repeats one.
#
#   scripts/crash.sh [TIMES]     # 5 times the kills of the default run, 2 minutes
set -euo pipefail
cd "$(dirname "$0")/.."
export SORTKEY_CHECKS=${1:-5} SORTKEY_SEED=${SORTKEY_SEED:-random} SORTKEY_LONG=1
go test ./store/disk -run 'Kill|Crash|Disk|Spoilt' -count=1 -v -timeout 60m | grep -v '^=== '
go test ./cmd/sortkey -run TestKill -count=1 -v -timeout 60m | grep -v '^=== '
