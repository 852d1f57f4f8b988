#!/usr/bin/env bash
# Checks the Python and the TypeScript that sortkey design gen writes, with packages/keys: mypy --strict and tsc
# --strict accept them; 20,000 random calls of templates answer what package keys answers in Go, also what they refuse;
# and the requests of the patterns of each model find, on a server with its items, the items that design check finds,
# in order. A language whose tools are missing is skipped, and the script says so. It ends with 0 if nothing was wrong.
#
#   scripts/check-gen.sh [MODEL…]
#
# MODEL is a model file; the default is the examples, a model with keys of every kind, and one with names that are hard
# to write. pip and npm install packages into GEN_CACHE, a folder outside the repository (default: sortkey-gen in the
# folder for temporary files). PYTHON names the interpreter (default python3).
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${GEN_CACHE:-${TMPDIR:-/tmp}/sortkey-gen}
dir=$(mktemp -d)
server=

stop() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  server=
}

finish() {
  code=$?
  stop
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT

models=("$@")
[ ${#models[@]} -gt 0 ] || models=(design/examples/*/model.yaml internal/design/gen/testdata/{store/model,names}.yaml)
models=($(realpath "${models[@]}"))
go build -o "$dir/sortkey" ./cmd/sortkey
mkdir -p "$cache"
rm -rf "$cache/code"
mkdir "$cache/code"
go test ./internal/design/gen -run '^TestWrite$' -count=1 -args -to "$cache/code" "${models[@]}"

skipped=0
skip() {
  echo "$1: skipped, $2"
  skipped=$((skipped + 1))
}

# install LANGUAGE FILE COMMAND… runs the command in the cache unless the file is there. It returns 1 and
# says why if the language cannot be checked.
install() {
  command -v "$3" >/dev/null || { skip "$1" "$3 is not installed"; return 1; }
  [ -e "$cache/$2" ] && return
  echo "$1: installing into $cache"
  if ! (cd "$cache" && "${@:3}") >"$dir/install.log" 2>&1; then
    skip "$1" "its tools cannot be installed: $(tail -1 "$dir/install.log")"
    return 1
  fi
}

python= script=
venv='import subprocess, sys, venv
venv.create("venv", with_pip=True)
sys.exit(subprocess.call(["venv/bin/pip", "install", "-q", "boto3", "mypy"]))'
if install python venv/bin/mypy "${PYTHON:-python3}" -c "$venv"; then
  python=$cache/venv/bin/python
  export PYTHONPATH=$PWD/packages/keys/python MYPYPATH=$PWD/packages/keys/python
  "$python" -m mypy --strict --cache-dir "$cache/mypy" "$cache"/code/*.py packages/keys/python/sortkey_keys
  "$python" scripts/check_gen.py "$cache/code" keys
fi

[ -f "$cache/package.json" ] || echo '{"private": true}' >"$cache/package.json"
if install typescript node_modules/.bin/tsc npm install --no-audit --no-fund \
  typescript @types/node @aws-sdk/client-dynamodb; then
  script=$cache/code/out
  rm -rf "$cache/node_modules/@sortkey"
  mkdir -p "$cache/node_modules/@sortkey"
  cp -r packages/keys/npm "$cache/node_modules/@sortkey/keys"
  cat >"$cache/code/tsconfig.json" <<'JSON'
{"compilerOptions": {"strict": true, "noUncheckedIndexedAccess": true, "noUnusedLocals": true,
  "noImplicitReturns": true, "target": "es2020", "lib": ["es2020"], "module": "nodenext", "types": ["node"], "outDir": "out"}, "include": ["*.ts"]}
JSON
  "$cache/node_modules/.bin/tsc" -p "$cache/code"
  echo "typescript: tsc --strict accepts ${#models[@]} files"
  cp scripts/check_gen.mjs "$cache/check_gen.mjs"
  node "$cache/check_gen.mjs" "$cache/code" "$script" keys
fi

# Nothing of the caller's own account or configuration takes part.
unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL
export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=check AWS_SECRET_ACCESS_KEY=check
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null NODE_NO_WARNINGS=1

for model in "${models[@]}"; do
  "$dir/sortkey" serve --load "$model" --addr 127.0.0.1:0 >"$dir/out" 2>"$dir/log" &
  server=$!
  for _ in $(seq 300); do
    grep -q AWS_ENDPOINT_URL_DYNAMODB "$dir/out" && break
    kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
    sleep 0.1
  done
  AWS_ENDPOINT_URL_DYNAMODB=$(sed -n 's/.*AWS_ENDPOINT_URL_DYNAMODB=\([^ ]*\).*/\1/p' "$dir/out")
  [ -n "$AWS_ENDPOINT_URL_DYNAMODB" ] || { echo "the server does not say where it is" >&2; exit 1; }
  export AWS_ENDPOINT_URL_DYNAMODB
  module=$(sed -n 's/^name: *//p' "$model" | tr - _)
  [ -z "$python" ] || "$python" scripts/check_gen.py "$cache/code" "$module"
  [ -z "$script" ] || node "$cache/check_gen.mjs" "$cache/code" "$script" "$module"
  stop
done

echo "check-gen: ${#models[@]} models, $skipped of 2 languages skipped"
