#!/usr/bin/env bash
# Measures ordered maps and stores in Go on the same million addresses, cold and cached: store/memory,
# google/btree, tidwall/btree, Pebble, Badger and bbolt. It needs 3 GB of memory and, on an idle machine, two
# minutes. Further arguments are those of go test, such as -benchtime 3s.
#
#   scripts/bench-ordered.sh [ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/../bench/embedded"
export GOWORK=off
exec go test -run '^$' -bench Ordered "$@" .
