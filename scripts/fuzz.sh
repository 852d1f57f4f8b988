#!/usr/bin/env bash
# Runs every native fuzz target of the module for a time, or a number of runs:
#   scripts/fuzz.sh 30s
#   scripts/fuzz.sh 4000x
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}

grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
  grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{print $2}' | sort -u | while read -r target; do
    printf '%s %s\n' "$dir" "$target"
    go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 200x </dev/null | grep -vE '^fuzz: (elapsed|minimizing)' || exit 1
  done
done
