#!/usr/bin/env bash
# Builds, vets and tests each module alone, at the versions that its own go.mod
# asks for: the workspace selects one version of a library for all of them. In a
# copy of the checkout, siblings are replaced by their folders.
#
#   scripts/check-modules.sh [MODULE...]      # default: all, as . store/disk cmd/sortkey
#   TESTS=./sdk scripts/check-modules.sh .    # with the tests of these packages alone
#   scripts/check-modules.sh --tidy           # instead, tidies the go.mod and go.sum of each module
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

. scripts/lib/modules.sh
export GOWORK=off
if [ "${1:-}" = --tidy ]; then
  # The modules require each other at a version that need not be published yet, so each is
  # tidied with its siblings replaced by their folders, in a copy of its go.mod.
  for module in "${modules[@]}"; do
    cd "$root/$module"
    cp go.mod tidy.mod
    [ ! -f go.sum ] || cp go.sum tidy.sum
    for sibling in "${modules[@]}"; do
      go mod edit -replace="$(module_path "$sibling")=$root/$sibling" tidy.mod
    done
    go mod tidy -modfile=tidy.mod
    for sibling in "${modules[@]}"; do
      go mod edit -dropreplace="$(module_path "$sibling")" tidy.mod
    done
    mv tidy.mod go.mod
    mv tidy.sum go.sum
  done
  exit
fi

[ $# -gt 0 ] || set -- "${modules[@]}"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh | tar --null -T - -c | tar -x -C "$copy"
for module in "$@"; do
  printf '\n== %s alone\n' "$module"
  cd "$copy/$module"
  for sibling in "${modules[@]}"; do
    [ "$sibling" = "$module" ] || go mod edit -replace="$(module_path "$sibling")=$copy/$sibling"
  done
  go build ./...
  go vet ./...
  go test -short ${TESTS:-./...}
done
