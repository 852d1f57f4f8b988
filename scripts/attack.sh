#!/usr/bin/env bash
# Attacks a server of this checkout as a hostile client, page or disk would, prints
# each attack with what it cost and its bound, and ends with 0 if all held. It needs
# Linux, 2 GB of memory and two minutes; the full disk needs the right to mount.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname)" != Linux ]; then
  echo "attack.sh: skipped, it reads /proc of Linux"
  exit 0
fi
go test -tags attack ./cmd/sortkey -run Attack -count=1 -v -timeout 20m 2>&1 |
  sed -n -e 's/^ *attack[a-z_]*_test.go:[0-9]*: //p' -e '/^--- \(FAIL\|SKIP\)/p' -e '/^\(ok\|FAIL\|panic\)/p' -e '/Error:/,+3p'
exit "${PIPESTATUS[0]}"
