#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that the packages of the repository
# call, with the govulncheck that tools/go.mod pins. It fails if there are any.
# Where its database cannot be reached it says so and ends with 0.
#
#   scripts/vulncheck.sh
#   scripts/vulncheck.sh -db file:///srv/vulndb    # other flags go to govulncheck
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd tools && GOWORK=off go build -o "$work/" golang.org/x/vuln/cmd/govulncheck)

code=0
GOWORK=$PWD/all.work "$work/govulncheck" "$@" ./... ./internal/design/... ./design/... ./store/disk/... ./store/postgres/... ./store/tikv/... ./cmd/sortkey/... ./cmd/sortkey/tikv/... 2>"$work/errors" || code=$?
# 1 is any failure of the tool; only its message separates those of the database.
if [ "$code" = 1 ] && unreachable=$(grep '^govulncheck: fetching vulnerabilities: ' "$work/errors"); then
  echo "vulncheck.sh: skipped: cannot reach the vulnerability database: ${unreachable#govulncheck: fetching vulnerabilities: }"
  exit 0
fi
cat "$work/errors" >&2
exit "$code"
