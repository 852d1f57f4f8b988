#!/usr/bin/env bash
# Tidies the go.mod and go.sum of every module of the repository. The modules
# require each other at a version that need not be published yet, so each is
# tidied with its siblings replaced by their folders, in a copy of its go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. scripts/lib/modules.sh

for module in "${modules[@]}"; do
  cd "$root/$module"
  cp go.mod tidy.mod
  [ ! -f go.sum ] || cp go.sum tidy.sum
  for sibling in "${modules[@]}"; do
    go mod edit -replace="$(module_path "$sibling")=$root/$sibling" tidy.mod
  done
  GOWORK=off go mod tidy -modfile=tidy.mod
  for sibling in "${modules[@]}"; do
    go mod edit -dropreplace="$(module_path "$sibling")" tidy.mod
  done
  mv tidy.mod go.mod
  mv tidy.sum go.sum
done
