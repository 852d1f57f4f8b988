#!/usr/bin/env bash
# Makes the changes of mutants.txt one at a time, each without touching the checkout, and runs the tests that must notice
# it. It prints those that nobody noticed, or that do not compile, and ends with 1 if there are any.
#
#   scripts/mutants.sh              # all, some minutes
#   scripts/mutants.sh keycond      # only those of files whose path contains a word
set -uo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

noticed=0 bad=0
while IFS= read -r line; do
  [[ $line =~ ^([^#:]+):\ (.+)\ →\ (.*)\ \ \[(.+)\]$ ]] || continue
  file=${BASH_REMATCH[1]} old=${BASH_REMATCH[2]} new=${BASH_REMATCH[3]} packages=${BASH_REMATCH[4]}
  [[ $file == *"${1:-}"* ]] || continue
  text=$(cat "$file") verdict=""
  before=${text%%"$old"*} after=${text#*"$old"}
  if [[ $text != *"$old"* || $after == *"$old"* ]]; then
    verdict='is not there once'
  else
    printf '%s\n' "$before$new$after" >"$work/mutant.go"
    printf '{"Replace": {"%s": "%s"}}' "$PWD/$file" "$work/mutant.go" >"$work/overlay.json"
    # shellcheck disable=SC2086 # several packages
    if ! go build -overlay "$work/overlay.json" "./$(dirname "$file")" >"$work/log" 2>&1; then
      verdict="does not compile: $(sed -n 2p "$work/log")"
    elif go test -vet=off -timeout 2m -overlay "$work/overlay.json" $packages >"$work/log" 2>&1; then
      verdict="is not noticed by $packages"
    fi
  fi
  if [ -n "$verdict" ]; then
    printf '%s: %s → %s %s\n' "$file" "$old" "$new" "$verdict"
    bad=$((bad + 1))
  else
    printf '%s: %s → %s: %s\n' "$file" "$old" "$new" "$(grep -m1 -oE -- '--- FAIL: [^ ]+|panic: .*|fatal error: .*' "$work/log")"
    noticed=$((noticed + 1))
  fi
done <scripts/mutants.txt
echo "mutants: $noticed noticed, $bad not"
[ "$bad" = 0 ]
