#!/usr/bin/env bash
# Installs the command from a module proxy in a folder, as go install
# github.com/sortkey/sortkey/cmd/sortkey@VERSION does once VERSION is tagged, and
# runs its demo. The installed command also compiles the playground of its version.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/proxy.sh

cd "$work"
GOFLAGS=-modcacherw GOBIN=$work go install "$prefix/cmd/sortkey@$version"
"$work/sortkey" version
"$work/sortkey" demo | tail -1
"$work/sortkey" playground -o "$work/playground"
test -s "$work/playground/engine.bin"
