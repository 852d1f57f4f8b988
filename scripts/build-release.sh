#!/usr/bin/env bash
# Builds the command for every system that a release has binaries for, with their
# checksums, or for those that are named. Any machine with Go builds all of them.
#
#   scripts/build-release.sh v0.1.0 dist [OS/ARCH...]
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?usage: scripts/build-release.sh VERSION FOLDER [OS/ARCH...]}
folder=${2:?usage: scripts/build-release.sh VERSION FOLDER [OS/ARCH...]}
shift 2
[ $# != 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
mkdir -p "$folder"
folder=$(realpath "$folder")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pack makes the archive of a folder in $work.
pack() {
  cp LICENSE "$work/$1/"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -czf "$folder/$1.tar.gz" "$1"
  echo "$1.tar.gz"
}

for target; do
  os=${target%/*} arch=${target#*/} suffix=
  [ "$os" != windows ] || suffix=.exe
  name=sortkey-$version-$os-$arch
  mkdir -p "$work/$name"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags="-s -w" -o "$work/$name/sortkey$suffix" ./cmd/sortkey
  cp README.md CHANGELOG.md "$work/$name/"
  pack "$name"
done

(cd "$folder" && sha256sum sortkey-"$version"-*.tar.gz >SHA256SUMS)
