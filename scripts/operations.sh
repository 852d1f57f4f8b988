#!/usr/bin/env bash
# Sends one well-formed request of each operation of the service, streams included,
# to a server of this checkout, and prints its status. It ends with 0 if none is
# unknown and docs/fidelity.md names them all.
set -euo pipefail
cd "$(dirname "$0")/.."
go test ./sdk -run 'TestEach$' -count=1 -v 2>&1 | sed -n -e 's/^ *every_test.go:[0-9]*: //p' -e '/^\(ok\|FAIL\|panic\)/p'
exit "${PIPESTATUS[0]}"
