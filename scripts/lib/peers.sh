# Installs and starts other implementations of DynamoDB, for the scripts that
# compare them with Sortkey. A script that sources this file sets
#
#   cache    folder for peers that are installed
#
# and gets
#
#   dir      temporary folder for logs, removed when the script ends
#   started  array for the processes, which stop_peers ends; the end of the script does, too
#
# DYNALITE, MOTO and DYNOXIDE name commands that exist already. The machine's own
# npm, pip and cargo install the others into the cache.

# have_PEER sets command to the peer's program. If there is none, it prints why
# and returns 1.
have_dynalite() {
  command=${DYNALITE:-$cache/node_modules/.bin/dynalite}
  command -v node >/dev/null || { echo "dynalite: skipped, node is not installed"; return 1; }
  install_peer dynalite npm npm install --no-audit --no-fund --prefix "$cache" dynalite@4
}

have_moto() {
  command=${MOTO:-$cache/moto/bin/moto_server}
  install_peer moto python3 sh -c 'python3 -m venv "$1" && "$1/bin/pip" install -q "moto[server]>=5,<6"' sh "$cache/moto"
}

have_dynoxide() {
  command=${DYNOXIDE:-$cache/dynoxide/bin/dynoxide}
  install_peer dynoxide cargo cargo install --locked --root "$cache/dynoxide" dynoxide-rs
}

# install_peer NAME TOOL COMMAND… runs the command, which needs the tool, unless
# the peer is there.
install_peer() {
  local name=$1 tool=$2
  shift 2
  command -v "$command" >/dev/null && return
  command -v "$tool" >/dev/null || { echo "$name: skipped, $tool is not installed"; return 1; }
  echo "$name: installing into $cache"
  mkdir -p "$cache"
  "$@" >"$dir/install.log" 2>&1 && return
  echo "$name: skipped, $tool cannot install it:"
  tail -3 "$dir/install.log"
  return 1
}

# peer_command PEER PORT sets command to the words that serve the peer, with its
# tables in memory.
peer_command() {
  "have_$1" || return
  case $1 in
  dynalite) command=("$command" --host 127.0.0.1 --port "$2" --createTableMs 0 --deleteTableMs 0 --updateTableMs 0) ;;
  moto) command=("$command" -H 127.0.0.1 -p "$2") ;;
  dynoxide) command=("$command" serve --host 127.0.0.1 --port "$2" --log quiet) ;;
  esac
}

# free_port sets port to one that nobody listens on.
free_port() {
  port=$((20000 + RANDOM % 20000))
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    port=$((port + 1))
  done
}

# await NAME PID PORT waits until the process listens on the port. If it does
# not, await prints the end of its log and returns 1.
await() {
  for _ in $(seq 300); do
    (exec 3<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null && return
    kill -0 "$2" 2>/dev/null || break
    sleep 0.1
  done
  echo "$1 does not start:"
  tail -5 "$dir/$1.log"
  return 1
}

# stop_peers ends the started processes.
stop_peers() {
  local pid
  for pid in "${started[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  started=()
}

dir=$(mktemp -d)
started=()

finish() {
  code=$?
  stop_peers
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT
