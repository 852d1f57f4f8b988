#!/usr/bin/env bash
# Sends one sequence of requests to a server of ours and to other
# implementations, and prints the differences that fuzz/diff/known.go does not
# explain. It ends with 0 if there are none.
#
#   scripts/diff.sh                      # 20000 requests, seed 1, every peer
#   scripts/diff.sh 5000 7               # requests and seed
#   scripts/diff.sh 20000 1 dynalite     # one peer
#
# Peers are dynalite (npm) and moto (pip). What is missing is installed into
# DIFF_CACHE (default ${TMPDIR:-/tmp}/sortkey-diff) by the machine's own npm and
# pip; DYNALITE and MOTO name commands that are there already. A peer that
# cannot be had is skipped, and the script says so. DIFF_SHOW is how many
# unexplained differences are printed (default 40).
set -euo pipefail
cd "$(dirname "$0")/.."

requests=${1:-20000}
seed=${2:-1}
shift $(($# > 2 ? 2 : $#))
[ $# -gt 0 ] || set -- dynalite moto
cache=${DIFF_CACHE:-${TMPDIR:-/tmp}/sortkey-diff}
dir=$(mktemp -d)
started=()

stop() {
  for pid in "${started[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  started=()
}
finish() {
  code=$?
  stop
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT

# Each of these sets command to what starts the peer, or returns 1 after saying
# why it cannot.
have_dynalite() {
  command=${DYNALITE:-$cache/node_modules/.bin/dynalite}
  command -v node >/dev/null || { echo "dynalite: skipped, node is not installed"; return 1; }
  command -v "$command" >/dev/null && return
  command -v npm >/dev/null || { echo "dynalite: skipped, npm is not installed"; return 1; }
  mkdir -p "$cache"
  (cd "$cache" && npm install --no-audit --no-fund --prefix "$cache" dynalite@4) >"$dir/npm" 2>&1 && return
  echo "dynalite: skipped, npm cannot install it:"
  tail -3 "$dir/npm"
  return 1
}

have_moto() {
  command=${MOTO:-$cache/moto/bin/moto_server}
  command -v "$command" >/dev/null && return
  command -v python3 >/dev/null || { echo "moto: skipped, python3 is not installed"; return 1; }
  mkdir -p "$cache"
  { python3 -m venv "$cache/moto" && "$cache/moto/bin/pip" install -q 'moto[server]>=5,<6'; } >"$dir/pip" 2>&1 && return
  echo "moto: skipped, pip cannot install it:"
  tail -3 "$dir/pip"
  return 1
}

free_port() {
  port=$((20000 + RANDOM % 20000))
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    port=$((port + 1))
  done
}

# keep starts a command again whenever it ends by itself: a request may be the
# end of a peer, which is a difference like others.
keep() {
  trap 'kill "$child" 2>/dev/null; exit 0' TERM
  while :; do
    "$@" &
    child=$!
    wait "$child" || true
    sleep 0.2
  done
}

# await PID PORT
await() {
  for _ in $(seq 300); do
    (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && return
    kill -0 "$1" 2>/dev/null || break
    sleep 0.1
  done
  echo "the server on port $2 does not start:" >&2
  tail -5 "$dir"/*.log >&2
  exit 1
}

go build -o "$dir/sortkey" ./cmd/sortkey
go build -o "$dir/diff" ./fuzz/diff

bad=0 ran=0
for peer in "$@"; do
  case $peer in
  dynalite) have_dynalite || continue; skip=TransactWriteItems ;;
  moto) have_moto || continue; skip= ;;
  *) echo "$peer: no such peer; there are dynalite and moto" >&2; exit 2 ;;
  esac
  free_port
  ours=$port
  "$dir/sortkey" serve --addr "127.0.0.1:$ours" >"$dir/sortkey.log" 2>&1 &
  started+=($!)
  await $! "$ours"
  free_port
  case $peer in
  dynalite) keep "$command" --path "$dir/dynalite" --host 127.0.0.1 --port "$port" --createTableMs 0 --deleteTableMs 0 --updateTableMs 0 >"$dir/$peer.log" 2>&1 & ;;
  moto) keep "$command" -H 127.0.0.1 -p "$port" >"$dir/$peer.log" 2>&1 & ;;
  esac
  started+=($!)
  await $! "$port"
  "$dir/diff" --ours "http://127.0.0.1:$ours" --peer "$peer=http://127.0.0.1:$port" \
    --requests "$requests" --seed "$seed" --skip "$skip" --show "${DIFF_SHOW:-40}" || { code=$?; bad=1; [ "$code" = 1 ] || tail -5 "$dir/$peer.log"; }
  ran=$((ran + 1))
  stop
done
echo "peers compared: $ran, left out: $(($# - ran))"
exit "$bad"
