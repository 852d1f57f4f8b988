#!/usr/bin/env bash
# Makes packages around the released binaries, from the archives of build-release.sh: a wheel and an npm package for
# each platform with the npm package that chooses among them, what generated code needs of keys, jars, and the manifests
# of Homebrew and Scoop. It needs Python 3, and for the jars a JDK; what is missing is said, and fails with --all.
#
# With --here it builds the command first, and makes the packages of this platform in the folder dist.
#
#   scripts/build-packages.sh --here
#   scripts/build-packages.sh v0.1.0 dist [--all]
set -euo pipefail
cd "$(dirname "$0")/.."

here=
if [ "${1:-}" = --here ]; then
  here=v0.0.1
  scripts/build-release.sh "$here" dist "$(go env GOOS)/$(go env GOARCH)" >&2
  set -- "$here" dist
fi
version=${1:?usage: scripts/build-packages.sh --here, or VERSION FOLDER [--all]}
folder=$(realpath "${2:?usage: scripts/build-packages.sh --here, or VERSION FOLDER [--all]}")
all=${3:-}
number=${version#v}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

skip() {
  echo "skipped: $1" >&2
  [ "$all" != --all ]
}

# pack makes an npm package of a folder.
pack() {
  tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --transform='s,^\.,package,' -czf "$folder/$2" .
  echo "$2" | tee -a "$work/made"
}

optional=
for archive in "$folder"/sortkey-"$version"-{linux,darwin,windows}-{amd64,arm64}.tar.gz; do
  [ -f "$archive" ] || continue
  name=$(basename "$archive" .tar.gz)
  target=${name#"sortkey-$version-"}
  tar -C "$work" -xzf "$archive"
  binary=$(echo "$work/$name"/sortkey*)

  if command -v python3 >/dev/null; then
    python3 packages/python/build.py "$version" "${target/-//}" "$binary" "$folder" | tee -a "$work/made"
  else
    skip "the wheel of $target: python3 is missing"
  fi

  os=${target%-*} cpu=${target#*-}
  [ "$os" != windows ] || os=win32
  [ "$cpu" != amd64 ] || cpu=x64
  mkdir -p "$work/npm-$target"
  cp "$binary" LICENSE "$work/npm-$target/"
  cat >"$work/npm-$target/package.json" <<JSON
{
  "name": "@sortkey/$os-$cpu",
  "version": "$number",
  "description": "The command sortkey for $os on $cpu",
  "license": "Apache-2.0",
  "os": ["$os"],
  "cpu": ["$cpu"],
  "preferUnplugged": true
}
JSON
  pack "$work/npm-$target" "sortkey-$os-$cpu-$number.tgz"
  optional="$optional${optional:+, }\"@sortkey/$os-$cpu\": \"$number\""
  targets="${targets:-} $target"
done
[ -n "$optional" ] || { echo "$folder has no sortkey-$version-*.tar.gz: run scripts/build-release.sh first" >&2; exit 1; }

mkdir "$work/npm"
cp packages/npm/* LICENSE "$work/npm/"
rm "$work/npm"/*.test.js
sed -i "s#\"version\": \"0.0.0\"#\"version\": \"$number\",\n  \"optionalDependencies\": {$optional}#" "$work/npm/package.json"
pack "$work/npm" "sortkey-$number.tgz"

# What generated code needs of keys, without a binary.
[ -z "$(command -v python3)" ] || python3 packages/python/build.py "$version" keys "$folder" | tee -a "$work/made"
mkdir "$work/keys"
cp packages/keys/npm/* packages/keys/README.md LICENSE "$work/keys/"
sed -i "s#\"version\": \"0.0.0\"#\"version\": \"$number\"#" "$work/keys/package.json"
pack "$work/keys" "sortkey-keys-$number.tgz"

if command -v javac >/dev/null && command -v jar >/dev/null; then
  packages/java/build.sh "$version" "$folder" "$work" ${targets:-} | tee -a "$work/made"
else
  skip "the jars: a JDK is missing"
fi

[ -n "$here" ] || packages/manifests.sh "$version" "$folder" | tee -a "$work/made" # they name every platform
cd "$folder"
grep -E "  sortkey-$version-[^/]*\.tar\.gz$" SHA256SUMS >"$work/sums"
xargs sha256sum <"$work/made" >>"$work/sums"
cp "$work/sums" SHA256SUMS
