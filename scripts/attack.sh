#!/usr/bin/env bash
# Attacks a server of this checkout as a hostile client, page or disk would, prints
# each attack with what it cost and its bound, and ends with 0 if all held. It needs
# Linux, 2 GB of memory and some minutes; the full disk needs the right to mount.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname)" != Linux ]; then
  echo "attack.sh: skipped, it reads /proc of Linux"
  exit 0
fi
failed=0
go test -tags attack ./cmd/sortkey -run Attack -count=1 -v -timeout 20m 2>&1 |
  sed -n -e 's/^ *attack[a-z_]*_test.go:[0-9]*: //p' -e '/^--- \(FAIL\|SKIP\)/p' -e '/^\(ok\|FAIL\|panic\)/p' -e '/Error:/,+3p' || failed=1

# Attacks that tests of one package make. Prints what a test tries and how long it took, with its bound in
# seconds; it must pass.
tried() {
  local what=$1 bound=$2 package=$3 tests=$4 out took
  if ! out=$(SORTKEY_LONG=1 go test "$package" -run "$tests" -count=1 -v -timeout "$((bound * 10))s" 2>&1); then
    echo "$out" | grep -v '^=== ' | tail -20
    failed=1
    return
  fi
  if ! grep -q '^ *--- PASS' <<<"$out"; then
    echo "$what: no test matches $tests in $package"
    failed=1
    return
  fi
  took=$(sed -n 's/^ok.*[[:space:]]\([0-9]*\)\.[0-9]*s$/\1/p' <<<"$out")
  printf '%-62s %6d s, bound %d\n' "$what" "$took" "$bound"
  if [ "$took" -gt "$bound" ]; then
    failed=1
  fi
}
tried "originals in masked items: names, sets, keys, numbers, Booleans" 30 ./internal/design/mask 'NothingLeaks|NoneStays|Uncovered'
tried "a mask whose rules do not cover the data: nothing is written" 30 ./cmd/sortkey 'TestScripts/mask$'
tried "descriptors exhausted and freed: writes go on" 60 ./store/disk 'TestDescriptors$'
tried "templates of a few lines that never end" 120 ./internal/design/convert 'TestBombs|TestGrammar'
tried "pipes, devices and huge files where a design is expected" 10 ./internal/design/convert TestReadFolder
tried "scans, transactions, index builds and exports for one processor" 60 . TestHeavy
tried "lines of MCP that are not JSON, and a short token" 60 ./cmd/sortkey 'TestScripts/mcp$'
tried "a control token of one letter" 30 ./cmd/sortkey TestControl
tried "control requests from unknown databases" 60 ./server TestControl
tried "a terminal that gets control characters and direction marks" 30 ./cmd/sortkey 'TestTerminalShows$'
tried "each file of a folder flipped, cut, emptied or deleted" 120 ./store/disk 'FuzzDamage$'
exit "$failed"
