#!/usr/bin/env bash
# Prints what CHANGELOG.md says of a version.
#
#   scripts/release-notes.sh v0.1.0
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?usage: scripts/release-notes.sh VERSION}
notes=$(awk -v version="$version" '/^## /{on = index($0, version) > 0; next} on' CHANGELOG.md)
[ -n "$notes" ] || { echo "CHANGELOG.md has no section for $version" >&2; exit 1; }
printf '%s\n' "$notes"
