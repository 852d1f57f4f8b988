#!/usr/bin/env bash
# Makes the packages around the command, installs them from a folder of files into clean environments, and runs suites
# with them: pytest with boto3, Jest, Vitest, JUnit, and the action. Each suite injects a fault and advances the clock;
# then a runner is killed, and its server must end. What is missing on this machine is skipped, and said.
#
#   scripts/check-packages.sh
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
version=v0.0.1
number=0.0.1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ran=0 skipped=0

skip() {
  echo "skipped: $1"
  skipped=$((skipped + 1))
}

# servers counts the servers that run from this folder.
servers() { pgrep -fc "^$dir/.*serve .*--isolate=path" || true; }

# ended fails unless the servers of killed runners end within ten seconds.
ended() {
  for _ in $(seq 100); do
    [ "$(servers)" != 0 ] || { echo "$1: killed, and its server has ended"; return 0; }
    sleep 0.1
  done
  echo "$1: its server still runs ten seconds after it was killed" >&2
  exit 1
}

# killed runs a suite that waits, kills its process group when a server runs, and checks that the server ends.
killed() {
  local what=$1
  shift
  { setsid "$@" >"$dir/killed.out" 2>&1 & } 2>/dev/null
  local group=$!
  for _ in $(seq 600); do
    [ "$(servers)" = 0 ] || break
    sleep 0.1
  done
  [ "$(servers)" != 0 ] || { echo "$what: no server was started" >&2; cat "$dir/killed.out" >&2; exit 1; }
  sleep 1
  # Only the runner dies: a server in its group would die with it and prove nothing.
  pgrep -g "$group" | while read -r p; do
    grep -qa 'until-eof' "/proc/$p/cmdline" 2>/dev/null || kill -9 "$p" 2>/dev/null || true
  done
  ended "$what"
}

echo "== packages"
dist=$dir/dist
os=$(go env GOOS) arch=$(go env GOARCH)
scripts/build-release.sh "$version" "$dist" "$os/$arch"
(cd "$dist" && for o in linux darwin windows; do
  for a in amd64 arm64; do # checksums of platforms that are not built here, for the manifests
    [ -f "sortkey-$version-$o-$a.tar.gz" ] || printf '%064d  sortkey-%s-%s-%s.tar.gz\n' 0 "$version" "$o" "$a"
  done
done >>SHA256SUMS)
scripts/build-packages.sh "$version" "$dist"
if command -v ruby >/dev/null; then ruby -c "$dist/sortkey.rb"; else skip "syntax of the formula: ruby is missing"; fi
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$dist/sortkey.json"

(cd "$dist" && sha256sum --check --quiet --ignore-missing SHA256SUMS)

# code FILE LANGUAGE [N] prints the Nth block in that language in a file.
code() {
  awk -v language="$2" -v want="${3:-1}" '
    $0 == "```" language { n++; inside = n == want; next }
    /^```$/ { inside = 0 }
    inside' "$1"
}

echo "== pytest"
pytest_suite() {
  mkdir "$dir/python" && cd "$dir/python"
  python3 -m venv venv
  venv/bin/pip install -q boto3 pytest
  venv/bin/pip install -q --no-index --find-links "$dist" sortkey
  venv/bin/sortkey version
  venv/bin/pip install -q --no-index --find-links "$dist" sortkey-keys
  (cd / && "$dir/python/venv/bin/python" -c "$(code "$root/packages/keys/README.md" python | sed '/^order.format("2026",/d')")
  code "$root/packages/python/README.md" python >test_readme.py
  cp "$root/packages/python/test_sortkey.py" .
  printf '[pytest]\nsortkey_load = tables.json\n' >pytest.ini
  cat >tables.json <<'JSON'
{"TableName": "Loaded", "BillingMode": "PAY_PER_REQUEST",
 "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
 "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}
JSON
  time env -u SORTKEY_BINARY AWS_ACCESS_KEY_ID=developers AWS_SECRET_ACCESS_KEY=x venv/bin/pytest -q
  printf 'import time\n\n\ndef test_wait(dynamodb_client):\n    time.sleep(60)\n' >test_wait.py
  killed pytest venv/bin/pytest -q test_wait.py
}
if command -v python3 >/dev/null && python3 -c 'import venv, ensurepip' 2>/dev/null; then
  (pytest_suite)
  ran=$((ran + 1))
else
  skip "pytest: python3 with venv is missing"
fi

echo "== Jest and Vitest"
node_suites() {
  mkdir "$dir/node" && cd "$dir/node"
  echo '{"private": true}' >package.json
  local cpu=$arch
  [ "$cpu" != amd64 ] || cpu=x64
  npm install --silent --no-audit --no-fund "$dist/sortkey-$os-$cpu-$number.tgz" "$dist/sortkey-$number.tgz" \
    @aws-sdk/client-dynamodb jest@29 vitest@3 typescript@5
  npx sortkey version
  npm install --silent --no-audit --no-fund "$dist/sortkey-keys-$number.tgz"
  node -e 'require("@sortkey/keys").Template'
  mkdir jest vitest
  code "$root/packages/npm/README.md" js 1 >jest.config.js
  code "$root/packages/npm/README.md" js 2 >vitest.config.mjs
  code "$root/packages/npm/README.md" js 3 >jest/readme.test.js
  cp "$root/packages/npm/sortkey.test.js" jest/
  cat >tables.json <<'JSON'
{"TableName": "Loaded", "BillingMode": "PAY_PER_REQUEST",
 "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
 "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}
JSON
  code "$root/packages/npm/README.md" js 4 >vitest/readme.test.mjs
  export AWS_ACCESS_KEY_ID=developers AWS_SECRET_ACCESS_KEY=x
  time SORTKEY_LOAD=tables.json npx jest --silent jest
  { echo 'import { expect, test } from "vitest";'
    sed -E 's/^const (.*) = require\((.*)\);$/import \1 from \2;/' jest/sortkey.test.js | sed -E '/^import/s/: / as /'; } \
    >vitest/sortkey.test.mjs
  time SORTKEY_LOAD=tables.json npx vitest run --dir vitest --reporter=dot
  cat >types.ts <<'TS'
import { startServer, type Database } from "sortkey";
import { sortkey } from "sortkey/test";
const db: Database = sortkey;
export const done: Promise<void> = db.clock.advance("1h");
export const started = startServer({ load: "x.yaml" });
TS
  npx tsc --noEmit --strict --module node16 --moduleResolution node16 --lib es2022,esnext.disposable --skipLibCheck types.ts
  mkdir wait
  printf 'test("waits", () => new Promise((done) => setTimeout(done, 60_000)), 70_000);\n' >wait/wait.test.js
  killed Jest npx jest wait
  printf 'import { test } from "vitest";\ntest("waits", () => new Promise((done) => setTimeout(done, 60_000)), 70_000);\n' \
    >wait/wait.test.mjs
  killed Vitest npx vitest run --dir wait
}
if command -v npm >/dev/null; then
  (node_suites)
  ran=$((ran + 1))
else
  skip "Jest and Vitest: npm is missing"
fi

echo "== JUnit"
junit_suite() {
  mkdir -p "$dir/junit/src/test/java" "$dir/junit/repository/io/github/sortkey/sortkey-junit/$number"
  cd "$dir/junit"
  cp "$dist"/sortkey-junit-"$number"{.jar,.pom} "$dist/sortkey-junit-$number-$os-$arch.jar" \
    "repository/io/github/sortkey/sortkey-junit/$number/"
  sed "s/@VERSION@/$number/; s/@PLATFORM@/$os-$arch/; s,@REPOSITORY@,file://$PWD/repository," \
    "$root/packages/java/test/pom.xml" >pom.xml
  cp "$root"/packages/java/test/*Test.java src/test/java/
  mkdir home # the command is unpacked there
  run=(mvn -q -B test "-DargLine=-Duser.home=$PWD/home")
  time "${run[@]}" -U -Dtest=OrdersTest
  killed JUnit "${run[@]}" -o -Dtest=WaitTest
  rm -rf "$HOME/.m2/repository/io/github/sortkey"
}
if [ -f "$dist/sortkey-junit-$number.jar" ]; then
  (junit_suite)
  ran=$((ran + 1))
else
  skip "JUnit: the jars were not made"
fi

echo "== the action"
mkdir -p "$dir/releases" "$dir/runner"
ln -s "$dist" "$dir/releases/$version"
env VERSION=$version LOAD= ARGS="--sweep 2s" SORTKEY_RELEASES="file://$dir/releases" RUNNER_TEMP="$dir/runner" \
  GITHUB_PATH="$dir/path" GITHUB_ENV="$dir/env" GITHUB_OUTPUT="$dir/output" packages/action/start.sh
curl --fail --silent "$(sed -n 's/^url=//p' "$dir/output")/healthz" >/dev/null
grep -q '^SORTKEY_CONTROL=' "$dir/env"
pkill -f "^$dir/runner/" && ran=$((ran + 1))

echo "packages checked: $ran, skipped: $skipped"
