#!/usr/bin/env bash
# Runs, one after the other, what .ci/run leaves out because it takes long or needs other programs, and ends with a
# table: what ran and for how long, what failed, and what was skipped and why. It ends with 1 if something failed.
#
#   scripts/long.sh                # everything, some hours
#   scripts/long.sh fuzz crash     # only these
#
# LOGS is the folder for the output of each part (default: a new one for temporary files).
set -uo pipefail
cd "$(dirname "$0")/.."
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
wanted=" $* " failed=0 table=""

# part NAME COMMAND… runs a command with its output in a log. A script that leaves something out says "skipped", and a
# test of Go says "--- SKIP", with the reason in the line before.
part() {
  local name=$1 log=$logs/$1.log began=$SECONDS result=ran
  shift
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  printf '== %s: %s\n' "$name" "$*"
  if ! "$@" >"$log" 2>&1; then
    result=FAILED failed=1
    tail -20 "$log"
  fi
  table+=$(printf '%-13s %-7s %6ds  %s' "$name" "$result" $((SECONDS - began)) "$log")$'\n'
  table+=$(awk '/^ *--- SKIP/ { sub(/^ *[^ ]*: /, "", line); print "    skipped: " $3 ": " line }
    /skipped[:,]/ && !/skipped: 0$/ { print "    " $0 }
    { line = $0 }' "$log" | sort -u)$'\n'
}

go_test() { SORTKEY_LONG=1 go test -count=1 -v -timeout 12h "$@"; }

# Packages without goroutines are left out, and scripts of which the race detector shows nothing.
race() {
  go list work |
    grep -vE '/(attr|expr|keys|keycond)(/|$)|/internal/(apigen|item|legacy|partiql|tests|text|wire)$' |
    grep -vE '/design/(advice|awscli|bill|convert|diff|examples|export|gen|lint|mask|report|tabledef)$|/fuzz/' |
    xargs go test -race -short -vet=off -skip '^TestScripts$/^(bench|blank|def|demo|design|help|key|mask|templates)'
}

part fuzz scripts/fuzz.sh 60s
part oracle scripts/oracle.sh 200000 "$RANDOM"
SORTKEY_CHECKS=10 part properties go_test ./fuzz -run 'Property(Marshal|Unmarshal|PutGet)'
SORTKEY_CHECKS=5 part transactions go_test ./fuzz -run Transactions
SORTKEY_CHECKS=50 part samples go_test ./fuzz -run '^TestNumbers'
SORTKEY_CHECKS=30 GOWORK=$PWD/all.work part order go_test ./store/tikv -run Order
part race race
SORTKEY_POSTGRES=1 part race-postgres go_test -race -short -run '^Test(Servers|Lookup)' ./store/postgres
GOWORK=$PWD/all.work part tikv go_test -race -short -skip '^Test(Matrix|Hazards|OpenWithoutCluster)$' ./store/tikv ./cmd/sortkey/tikv
part pairs go_test -race -run 'Matrix|Hazards' . ./store/...
part commands go_test -race -run TestScripts ./cmd/sortkey
part attack scripts/attack.sh
part crash scripts/crash.sh
part import scripts/check-import.sh
part pages scripts/check-pages.sh
part postgres scripts/check-postgres.sh
part million scripts/check-million.sh
part clients scripts/check-clients.sh
part packages scripts/check-packages.sh
part gen scripts/check-gen.sh
part install scripts/check-install.sh
part modules scripts/check-modules.sh
part vulnerable scripts/vulncheck.sh

printf '\n%s' "$table" | grep -v '^$'
exit "$failed"
