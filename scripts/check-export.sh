#!/usr/bin/env bash
# Checks what sortkey design export writes with the tools that it is for: terraform fmt; the TypeScript
# compiler and the AWS CDK, whose template is imported again; OneTable and ElectroDB, which store
# the sample items of each example on a running server, with the keys that the model says. A tool
# that is not installed is skipped, and the script says so. It ends with 0 if nothing was wrong.
#
#   scripts/check-export.sh [MODEL…]
#
# MODEL is a model file; the default is the examples, and one with hostile names. npm installs packages
# into EXPORT_CACHE, a folder outside the repository (default: sortkey-export in the folder for temporary
# files).
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${EXPORT_CACHE:-${TMPDIR:-/tmp}/sortkey-export}
dir=$(mktemp -d)
server=

finish() {
  code=$?
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT

models=("$@")
[ ${#models[@]} -gt 0 ] || models=(design/examples/*/model.yaml internal/design/export/testdata/hostile.yaml)
go build -o "$dir/sortkey" ./cmd/sortkey
sortkey=$dir/sortkey

# name MODEL prints the name of a model.
name() { sed -n 's/^name: *//p' "$1"; }

# export_model MODEL FORMAT OUT writes a file or a folder.
export_model() { "$sortkey" design export "$1" --format "$2" -o "$3" 2>>"$dir/losses"; }

ran=0 skipped=0
skip() {
  echo "$1: skipped, $2"
  skipped=$((skipped + 1))
}

if command -v terraform >/dev/null; then
  for model in "${models[@]}"; do
    export_model "$model" terraform "$dir/$(name "$model").tf"
    env -u TF_CLI_CONFIG_FILE terraform fmt -check -diff "$dir/$(name "$model").tf"
  done
  echo "terraform: fmt changes nothing in ${#models[@]} files"
  ran=$((ran + 1))
else
  skip terraform "it is not installed"
fi

# install makes the packages in the cache, or returns 1 and says why.
install() {
  command -v npm >/dev/null || { skip "$1" "npm is not installed"; return 1; }
  mkdir -p "$cache"
  [ -f "$cache/package.json" ] || echo '{"private": true}' >"$cache/package.json"
  [ -d "$cache/node_modules/$2" ] && return
  echo "$1: installing into $cache"
  if ! (cd "$cache" && npm install --no-audit --no-fund "${@:3}") >"$dir/npm.log" 2>&1; then
    skip "$1" "npm cannot install it: $(tail -1 "$dir/npm.log")"
    return 1
  fi
}

check_cdk() {
  rm -rf "$cache/cdk"
  mkdir -p "$cache/cdk"
  local i=0 model
  echo 'import { App, Stack } from "aws-cdk-lib";' >"$cache/cdk/synth.ts"
  for model in "${models[@]}"; do
    i=$((i + 1))
    export_model "$model" cdk "$cache/cdk/$(name "$model").ts"
    printf 'import * as m%d from "./%s.js";\n' $i "$(name "$model")" >>"$cache/cdk/synth.ts"
  done
  echo 'const app = new App({ outdir: process.argv[2] });' >>"$cache/cdk/synth.ts"
  i=0
  for model in "${models[@]}"; do
    i=$((i + 1))
    printf 'for (const C of Object.values(m%d)) new C(new Stack(app, "%s"), "D");\n' $i "$(name "$model")"
  done >>"$cache/cdk/synth.ts"
  echo 'app.synth();' >>"$cache/cdk/synth.ts"
  cat >"$cache/cdk/tsconfig.json" <<'JSON'
{"compilerOptions": {"strict": true, "target": "es2022", "module": "nodenext", "skipLibCheck": true,
  "types": ["node"], "outDir": "out"}, "files": ["synth.ts"]}
JSON
  "$cache/node_modules/.bin/tsc" -p "$cache/cdk"
  node "$cache/cdk/out/synth.js" "$dir/cdk.out"

  for model in "${models[@]}"; do
    local m
    m=$(name "$model")
    export_model "$model" cloudformation "$dir/$m.yaml"
    "$sortkey" design import "$dir/$m.yaml" --name "$m" -o "$dir/$m.cfn" 2>/dev/null
    "$sortkey" design import "$dir/cdk.out/$m.template.json" --name "$m" -o "$dir/$m.cdk" 2>/dev/null
    # A stack has no description.
    "$sortkey" design diff "$dir/$m.cfn" "$dir/$m.cdk" >"$dir/diff"
    grep -q '^nothing changed but perhaps words$' "$dir/diff" || { cat "$dir/diff" >&2; exit 1; }
  done
  echo "cdk: ${#models[@]} constructs pass tsc --strict, and have the tables of their models when synthesized"
}

if install cdk aws-cdk-lib aws-cdk-lib constructs typescript @types/node; then
  check_cdk
  ran=$((ran + 1))
fi

check_libraries() {
  for model in "${models[@]}"; do
    local m
    m=$(name "$model")
    export_model "$model" create-table "$dir/libraries/$m/create/"
    export_model "$model" onetable "$dir/libraries/$m/onetable/"
    export_model "$model" electrodb "$dir/libraries/$m/electrodb/"
  done
  "$sortkey" serve --isolate --addr 127.0.0.1:0 >"$dir/out" &
  server=$!
  for _ in $(seq 100); do
    [ -s "$dir/out" ] && break
    kill -0 "$server" 2>/dev/null || { echo "the server ended" >&2; exit 1; }
    sleep 0.1
  done
  endpoint=$(sed -n 's/.*AWS_ENDPOINT_URL_DYNAMODB=\([^ ]*\).*/\1/p' "$dir/out")
  [ -n "$endpoint" ] || { echo "the server does not say where it is" >&2; exit 1; }
  cp scripts/check_export.mjs "$cache/check_export.mjs"
  env -u AWS_PROFILE -u AWS_SESSION_TOKEN -u AWS_ENDPOINT_URL AWS_ENDPOINT_URL_DYNAMODB="$endpoint" \
    AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=check AWS_SECRET_ACCESS_KEY=check AWS_CONFIG_FILE=/dev/null \
    AWS_SHARED_CREDENTIALS_FILE=/dev/null NODE_NO_WARNINGS=1 node "$cache/check_export.mjs" "$dir/libraries"
}

if install "OneTable and ElectroDB" electrodb \
  dynamodb-onetable electrodb @aws-sdk/client-dynamodb @aws-sdk/lib-dynamodb; then
  check_libraries
  ran=$((ran + 1))
fi

echo "check-export: $ran checks ran, $skipped skipped"
