#!/usr/bin/env bash
# Compares every answer of Sortkey with the predictions of the model in fuzz: in memory; on disk
# and on PostgreSQL, where the server is killed in the middle and started again. It prints the
# requests, the kills and the mismatches, and ends with 1 if there is a mismatch. Without
# PostgreSQL's programs, it skips that engine and says so.
#
#   scripts/oracle.sh                    # 20000 requests in memory, a tenth of them on the others, seed 1
#   scripts/oracle.sh 200000 7           # requests and seed
#   scripts/oracle.sh --against moto     # as a control: what another implementation answers differently, by kind
#
# Other implementations are dynalite (npm), moto (pip) and dynoxide (cargo). scripts/lib/peers.sh
# installs a missing one into DIFF_CACHE (default ${TMPDIR:-/tmp}/sortkey-diff), or skips it and
# says why.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/peers.sh

peer=
if [ "${1-}" = --against ]; then
  peer=${2:?--against needs dynalite, moto or dynoxide}
  shift 2
fi
requests=${1:-20000}
export SORTKEY_SEED=${2:-1} SORTKEY_LONG=1 SORTKEY_POSTGRES=1

run() { go test ./fuzz -run '^TestOracle$' -count=1 -v -timeout 0 -requests "$requests" "$@"; }
report() { grep -vE '^(=== |PASS$|ok )' || true; }

if [ -z "$peer" ]; then
  run | report
  exit
fi

case $peer in
dynalite | moto | dynoxide) ;;
*) echo "unknown implementation $peer; use dynalite, moto or dynoxide" >&2; exit 2 ;;
esac
cache=${DIFF_CACHE:-${TMPDIR:-/tmp}/sortkey-diff}

free_port
peer_command "$peer" "$port" || exit 0
"${command[@]}" >"$dir/$peer.log" 2>&1 &
started+=($!)
await "$peer" $! "$port"
run -against "$peer=http://127.0.0.1:$port" | report
