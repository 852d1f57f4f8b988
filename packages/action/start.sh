#!/usr/bin/env bash
# Installs a release for this runner, checks it against the checksums, and starts a server; see action.yml.
# SORTKEY_RELEASES names another place for the releases.
set -euo pipefail

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows ;;
*) echo "::error::there is no sortkey for $(uname -s)" && exit 1 ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "::error::there is no sortkey for $(uname -m)" && exit 1 ;;
esac

address=${SORTKEY_RELEASES:-https://github.com/sortkey/sortkey/releases/download}/$VERSION
name=sortkey-$VERSION-$os-$arch
folder=${RUNNER_TEMP:?}/sortkey
mkdir -p "$folder"
cd "$folder"
umask 077 # what the server prints has the token of its control
curl --fail --silent --show-error --location --retry 3 --remote-name-all "$address/$name.tar.gz" "$address/SHA256SUMS" ||
  { echo "::error::there is no release $VERSION for $os on $arch: versions look like v0.1.0" && exit 1; }
if command -v sha256sum >/dev/null; then check=(sha256sum); else check=(shasum -a 256); fi
grep -F "  $name.tar.gz" SHA256SUMS | "${check[@]}" --check --quiet - ||
  { echo "::error::$name.tar.gz is not the file of the release" && exit 1; }
tar -xzf "$name.tar.gz"
echo "$folder/$name" >>"$GITHUB_PATH"

cd "${GITHUB_WORKSPACE:-.}"
command=("$folder/$name/sortkey" serve --addr 127.0.0.1:0 --isolate --control)
while IFS= read -r what; do
  what=${what%$'\r'}
  [ -z "$what" ] || command+=(--load "$what")
done <<<"${LOAD:-}"
read -ra further <<<"$(tr '\r\n' '  ' <<<"${ARGS:-}")"
: >"$folder/out"
SORTKEY_CONTROL_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export SORTKEY_CONTROL_TOKEN
echo "::add-mask::$SORTKEY_CONTROL_TOKEN"
nohup "${command[@]}" ${further[@]+"${further[@]}"} >"$folder/out" 2>"$folder/log" </dev/null &
server=$!

for _ in $(seq 600); do
  url=$(sed -n 's/.*AWS_ENDPOINT_URL_DYNAMODB=\([^ ]*\).*/\1/p' "$folder/out")
  control=$(sed -n 's/^sortkey: control at \([^ ]*\) .*/\1/p' "$folder/out")
  if [ -n "$url" ] && [ -n "$control" ]; then
    echo "url=$url" >>"$GITHUB_OUTPUT"
    {
      echo "AWS_ENDPOINT_URL_DYNAMODB=$url"
      echo "AWS_REGION=us-east-1"
      echo "AWS_DEFAULT_REGION=us-east-1"
      echo "AWS_ACCESS_KEY_ID=sortkey"
      echo "AWS_SECRET_ACCESS_KEY=any"
      echo "SORTKEY_URL=$url"
      echo "SORTKEY_CONTROL=$control"
      echo "SORTKEY_CONTROL_TOKEN=$SORTKEY_CONTROL_TOKEN"
    } >>"$GITHUB_ENV"
    exit 0
  fi
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
echo "::error::the server did not start: $(tail -c 2000 "$folder/log")"
exit 1
