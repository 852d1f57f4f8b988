#!/usr/bin/env bash
# Runs every native fuzz target of the module for a time, or a number of runs:
#   scripts/fuzz.sh 30s
#   scripts/fuzz.sh 4000x
# The targets of a package share one binary. Two packages or more are built at once, because a link keeps one core
# busy; the targets run one after another, because each has as many workers as there are cores.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}

binaries=$(mktemp -d)
trap 'rm -rf "$binaries"' EXIT
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | xargs -n1 dirname | sort -u >"$binaries/packages"
nl -w1 -s' ' "$binaries/packages" | xargs -P"$(nproc)" -n2 sh -c 'go test -c -fuzz . -o "$0/$1" "$2"' "$binaries"

# The inputs that reach something new are kept where go test -fuzz keeps them.
kept=$(go env GOCACHE)/fuzz
nl -w1 -s' ' "$binaries/packages" | while read -r number dir; do
  path=$(go list "$dir")
  grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{print $2}' | sort -u | while read -r target; do
    printf '%s %s\n' "$dir" "$target"
    (
      cd "$dir"
      "$binaries/$number" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.fuzzminimizetime 200x \
        -test.fuzzcachedir "$kept/$path" </dev/null
    ) | grep -vE '^fuzz: (elapsed|minimizing)' || exit 1
  done
done
