#!/usr/bin/env bash
# Compares benchmarks by benchstat, in turns, on a machine that does nothing else. "~" is no difference.
#
#   scripts/bench.sh REVISION [BENCHMARK [PACKAGE…]]    # with another revision; Layers/memory of ./bench
#   scripts/bench.sh peers [BENCHMARK]                  # with other implementations over HTTP; Endpoint
#
# RUNS is the number of runs (default 6; benchstat needs four). Other arguments of go test go into GOFLAGS, as in
# GOFLAGS=-benchtime=100ms. Peers are dynalite (npm), moto (pip) and dynoxide (cargo); BENCH_PEERS selects some.
# scripts/lib/peers.sh installs a missing peer into BENCH_CACHE, or skips it and says why. The tables of all are in
# memory; server-ns/op is the processor time of the server.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?usage: scripts/bench.sh REVISION|peers [BENCHMARK [PACKAGE…]]}
shift
cache=${BENCH_CACHE:-${TMPDIR:-/tmp}/sortkey-bench}
. scripts/lib/peers.sh
trap 'exit 130' INT TERM
(cd tools && GOWORK=off go build -o "$dir/" golang.org/x/perf/cmd/benchstat)

# compare runs "run SIDE", which prints the results of a side, for all sides in turns, and prints what differs.
compare() {
  local side files=()
  for _ in $(seq "${RUNS:-6}"); do
    for side in "$@"; do
      run "$side" >>"$dir/$side.txt" || { tail -20 "$dir/$side.txt"; return 1; }
    done
  done
  for side in "$@"; do files+=("$side=$dir/$side.txt"); done
  "$dir/benchstat" "${files[@]}"
}

if [ "$what" != peers ]; then
  bench=${1:-Layers/memory}
  packages=("${@:2}")
  [ ${#packages[@]} -gt 0 ] || packages=(./bench)
  git worktree add --quiet --detach "$dir/tree" "$what"
  run() {
    local tree=$dir/tree
    [ "$1" = before ] || tree=$PWD
    (cd "$tree" && go test -run '^$' -bench "$bench" "${packages[@]}")
  }
  compare before here && code=0 || code=$?
  git worktree remove --force "$dir/tree"
  exit "$code"
fi

go build -trimpath -ldflags="-s -w" -o "$dir/sortkey" ./cmd/sortkey # as docs/operations.md recommends
declare -A url process
sides=()
for peer in sortkey ${BENCH_PEERS-dynalite moto dynoxide}; do
  free_port
  case $peer in
  sortkey) command=("$dir/sortkey" serve --addr "127.0.0.1:$port") ;;
  dynalite | moto | dynoxide) peer_command "$peer" "$port" || continue ;;
  *) echo "unknown peer $peer; the peers are dynalite, moto and dynoxide" >&2; exit 2 ;;
  esac
  "${command[@]}" >"$dir/$peer.log" 2>&1 &
  started+=($!)
  await "$peer" $! "$port" || continue
  url[$peer]=http://127.0.0.1:$port process[$peer]=$!
  sides+=("$peer")
done
run() {
  go test ./bench -run '^$' -bench "${bench:-Endpoint}" -endpoint "${url[$1]}" -process "${process[$1]}"
}
bench=${1:-}
compare "${sides[@]}"
