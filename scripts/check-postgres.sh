#!/usr/bin/env bash
# Tests store/postgres and the command on a real PostgreSQL: conformance, faults at
# every statement, crashes of the database under load, a standby that is promoted, and
# several servers on one database, some of which are killed. Porcupine checks the
# histories of random transactions: in one process, and over HTTP while servers are
# killed and the database crashes. The tests start a cluster of their own in a temporary
# folder, on a Unix socket. The script installs nothing; without PostgreSQL it says so
# and ends with 0.
#
#   scripts/check-postgres.sh
#   scripts/check-postgres.sh --bench    # and measure tables that grow, beside pgx
set -euo pipefail
cd "$(dirname "$0")/.."

server=
for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -rn) "$(dirname "$(command -v initdb || echo none)")"; do
  [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] && { server=$dir/postgres; break; }
done
if [ -z "$server" ]; then
  echo "check-postgres.sh: skipped, PostgreSQL is not installed: install the package postgresql (Debian, Ubuntu), postgresql-server (Fedora) or postgresql (Homebrew)"
  exit 0
fi
"$server" --version

export SORTKEY_CHECKS=${SORTKEY_CHECKS:-5} SORTKEY_LONG=1 SORTKEY_POSTGRES=1
report() { grep -E '^(---|ok|FAIL|PASS|panic)|acknowledged|Conflicts:|_test.go:' || true; }
go test ./store/postgres -count=1 -v -timeout 20m | report
go test ./fuzz -run 'TestPropertyTransactionsOn(Postgres|Servers)' -count=1 -v -timeout 20m | report
go test ./cmd/sortkey -run 'TestScripts/.*postgres' -count=1 -v -timeout 10m | report
go test ./cmd/sortkey -run TestStoreInPostgreSQL -count=1 -v | report
go test ./cmd/sortkey -run TestKillServers -count=1 -v -timeout 20m | report
if [ "${1-}" = --bench ]; then
  go test ./store/postgres -run '^$' -bench Growth -timeout 20m
fi
