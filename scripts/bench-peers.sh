#!/usr/bin/env bash
# Starts other implementations of DynamoDB and runs sortkey bench beside them,
# with whatever arguments it is given.
#
#   scripts/bench-peers.sh                          # point operations, queries, pages and scans, 8 clients
#   scripts/bench-peers.sh get put -c 32 --details
#   scripts/bench-peers.sh targets                  # what Sortkey holds itself to
#   scripts/bench-peers.sh results                  # the whole of bench/results, and the table in bench/README.md
#
# Peers are dynalite (npm), moto (pip) and dynoxide (cargo); BENCH_PEERS names
# those wanted (default "dynalite moto dynoxide"). What is missing is installed
# into BENCH_CACHE (default ${TMPDIR:-/tmp}/sortkey-bench) by the machine's own
# npm, pip and cargo; DYNALITE, MOTO and DYNOXIDE name commands that are there
# already. A peer that cannot be had is skipped, and the script says so. All
# keep their tables in memory.
set -euo pipefail
cd "$(dirname "$0")/.."

peers=${BENCH_PEERS-dynalite moto dynoxide}
cache=${BENCH_CACHE:-${TMPDIR:-/tmp}/sortkey-bench}
dir=$(mktemp -d)
started=()

finish() {
  code=$?
  for pid in "${started[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

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

have_dynoxide() {
  command=${DYNOXIDE:-$cache/dynoxide/bin/dynoxide}
  command -v "$command" >/dev/null && return
  command -v cargo >/dev/null || { echo "dynoxide: skipped, cargo is not installed"; return 1; }
  mkdir -p "$cache"
  echo "dynoxide: building it, which takes minutes"
  cargo install --locked --root "$cache/dynoxide" dynoxide-rs >"$dir/cargo" 2>&1 && return
  echo "dynoxide: skipped, cargo cannot build it:"
  tail -3 "$dir/cargo"
  return 1
}

free_port() {
  port=$((20000 + RANDOM % 20000))
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    port=$((port + 1))
  done
}

# await NAME PID PORT
await() {
  for _ in $(seq 300); do
    (exec 3<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null && return
    kill -0 "$2" 2>/dev/null || break
    sleep 0.1
  done
  echo "$1: skipped, it does not start:"
  tail -5 "$dir/$1.log"
  return 1
}

# As docs/operations.md builds it for use.
CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o "$dir/sortkey" ./cmd/sortkey

endpoints=()
for peer in $peers; do
  case $peer in
  dynalite | moto | dynoxide) "have_$peer" || continue ;;
  *) echo "$peer: no such peer; there are dynalite, moto and dynoxide" >&2; exit 2 ;;
  esac
  free_port
  case $peer in
  dynalite) "$command" --host 127.0.0.1 --port "$port" --createTableMs 0 --deleteTableMs 0 --updateTableMs 0 >"$dir/$peer.log" 2>&1 & ;;
  moto) "$command" -H 127.0.0.1 -p "$port" >"$dir/$peer.log" 2>&1 & ;;
  dynoxide) "$command" serve --host 127.0.0.1 --port "$port" --log quiet >"$dir/$peer.log" 2>&1 & ;;
  esac
  started+=($!)
  await "$peer" $! "$port" || continue
  endpoints+=(--endpoint "$peer=http://127.0.0.1:$port")
done

if [ $# -eq 0 ]; then
  set -- get put update query-10 query-100 page scan-filter -c 8
fi
if [ "$1" = results ]; then
  shift
  mkdir -p bench/results
  "$dir/sortkey" bench results --dir bench/results --readme bench/README.md "${endpoints[@]}" "$@"
  exit
fi
"$dir/sortkey" bench "$@" "${endpoints[@]}"
