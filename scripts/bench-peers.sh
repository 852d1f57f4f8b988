#!/usr/bin/env bash
# Starts other implementations of DynamoDB and runs sortkey bench with them as
# endpoints. Arguments go to sortkey bench.
#
#   scripts/bench-peers.sh                          # point operations, queries, pages and scans, 8 clients
#   scripts/bench-peers.sh get put -c 32 --details
#   scripts/bench-peers.sh targets                  # the figures that Sortkey must reach
#   scripts/bench-peers.sh results                  # all results in bench/results and bench/README.md
#
# Peers are dynalite (npm), moto (pip) and dynoxide (cargo); BENCH_PEERS selects
# some (default "dynalite moto dynoxide"). scripts/lib/peers.sh installs a missing
# peer into BENCH_CACHE (default ${TMPDIR:-/tmp}/sortkey-bench), or skips it and
# says why. All keep their tables in memory.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/peers.sh

peers=${BENCH_PEERS-dynalite moto dynoxide}
cache=${BENCH_CACHE:-${TMPDIR:-/tmp}/sortkey-bench}
trap 'exit 130' INT TERM

# The build that docs/operations.md recommends.
CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o "$dir/sortkey" ./cmd/sortkey

endpoints=()
for peer in $peers; do
  case $peer in
  dynalite | moto | dynoxide) ;;
  *) echo "unknown peer $peer; the peers are dynalite, moto and dynoxide" >&2; exit 2 ;;
  esac
  free_port
  peer_command "$peer" "$port" || continue
  "${command[@]}" >"$dir/$peer.log" 2>&1 &
  pid=$!
  started+=("$pid")
  await "$peer" "$pid" "$port" || continue
  endpoints+=(--endpoint "$peer=http://127.0.0.1:$port" --process "$peer=$pid")
done

if [ $# -eq 0 ]; then
  set -- get put update query-10 query-100 page scan-filter -c 8
fi
if [ "$1" = results ]; then
  shift
  set -- results --dir bench/results --readme bench/README.md "$@"
fi
if [ "$1" = targets ]; then
  set -- "$@" --sources .
fi
"$dir/sortkey" bench "$@" "${endpoints[@]}"
