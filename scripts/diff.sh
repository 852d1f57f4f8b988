#!/usr/bin/env bash
# Sends one sequence of requests to a Sortkey server and to other
# implementations, and prints the differences that fuzz/diff/known.go does not
# explain. The exit code is 0 if there are none.
#
#   scripts/diff.sh                      # 20000 requests, seed 1, every peer
#   scripts/diff.sh 5000 7               # requests and seed
#   scripts/diff.sh 20000 1 dynalite     # one peer
#
# Peers are dynalite (npm), moto (pip) and dynoxide (cargo). scripts/lib/peers.sh installs a missing
# peer into DIFF_CACHE (default ${TMPDIR:-/tmp}/sortkey-diff), or skips it and
# says why. DIFF_SHOW is the number of unexplained differences to print (default
# 40).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/peers.sh

requests=${1:-20000}
seed=${2:-1}
shift $(($# > 2 ? 2 : $#))
[ $# -gt 0 ] || set -- dynalite moto dynoxide
cache=${DIFF_CACHE:-${TMPDIR:-/tmp}/sortkey-diff}

# keep restarts a command whenever it ends by itself: a request may crash a peer,
# which is a difference like others.
keep() {
  trap 'kill "$child" 2>/dev/null; exit 0' TERM
  while :; do
    "$@" &
    child=$!
    wait "$child" || true
    sleep 0.2
  done
}

go build -o "$dir/sortkey" ./cmd/sortkey
go build -o "$dir/diff" ./fuzz/diff

bad=0 ran=0
for peer in "$@"; do
  case $peer in
  dynalite) skip='TransactWriteItems,ExecuteStatement,BatchExecuteStatement,ExecuteTransaction,ListStreams to GetRecords,ListStreams,DescribeStream,GetShardIterator,GetRecords' ;;
  moto | dynoxide) skip= ;;
  *) echo "unknown peer $peer; the peers are dynalite, moto and dynoxide" >&2; exit 2 ;;
  esac
  free_port
  theirs=$port
  peer_command "$peer" "$theirs" || continue
  [ "$peer" != dynalite ] || command+=(--path "$dir/dynalite") # tables survive a restart
  keep "${command[@]}" >"$dir/$peer.log" 2>&1 &
  started+=($!)
  await "$peer" $! "$theirs" || exit 1
  free_port
  # Both peers have the messages of before the service changed them.
  "$dir/sortkey" serve --wording 2026-05 --addr "127.0.0.1:$port" >"$dir/sortkey.log" 2>&1 &
  started+=($!)
  await sortkey $! "$port" || exit 1
  "$dir/diff" --ours "http://127.0.0.1:$port" --peer "$peer=http://127.0.0.1:$theirs" \
    --requests "$requests" --seed "$seed" --skip "$skip" --show "${DIFF_SHOW:-40}" || { code=$?; bad=1; [ "$code" = 1 ] || tail -5 "$dir/$peer.log"; }
  ran=$((ran + 1))
  stop_peers
done
echo "peers compared: $ran, left out: $(($# - ran))"
exit "$bad"
