#!/usr/bin/env bash
# Measures the targets that take little time, six times, and appends a line for each
# figure to a file in Go's benchmark format. Then benchstat says what moved beyond
# noise since the commit before it in the file: "~" is no difference.
#
#   scripts/bench-history.sh                        # into bench/history.txt
#   scripts/bench-history.sh --only page,GetItem    # arguments go to sortkey bench targets
#
# HISTORY names another file, RUNS the number of runs; benchstat needs four. Only runs
# on one machine that does nothing else can be compared.
set -euo pipefail
cd "$(dirname "$0")/.."
history=$(realpath -m "${HISTORY:-bench/history.txt}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o "$dir/sortkey" ./cmd/sortkey
if [ $# -eq 0 ]; then
  set -- --only "table page,api,filter,GetItem,processor,sdk,disk page,Fork,serve,put into"
fi
for run in $(seq "${RUNS:-6}"); do
  echo "run $run"
  "$dir/sortkey" bench targets -q --append "$history" "$@" >"$dir/out" 2>&1 || true # misses are no failure here
  grep -q '^measure' "$dir/out" || { cat "$dir/out"; exit 1; }
done

# The last two commits of the file.
commits=$(awk '$1 == "commit:" && !seen[$2]++ {print $2}' "$history" | tail -2)
awk -v commits="$commits" 'BEGIN {n = split(commits, c); for (i in c) want[c[i]] = 1}
  $1 == "commit:" {on = $2 in want} on' "$history" >"$dir/last.txt"
(cd tools && GOWORK=off go build -o "$dir/" golang.org/x/perf/cmd/benchstat)
"$dir/benchstat" -col commit -ignore date "$dir/last.txt"
