#!/usr/bin/env bash
# Builds, vets and tests each module alone, at the versions that its own go.mod
# asks for: the workspace selects one version of a library for all of them. In a
# copy of the checkout, siblings are replaced by their folders.
#
#   scripts/check-modules.sh [MODULE...]      # default: all, as . store/disk cmd/sortkey
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/lib/modules.sh
[ $# -gt 0 ] || set -- "${modules[@]}"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh | tar --null -T - -c | tar -x -C "$copy"
export GOWORK=off
for module in "$@"; do
  printf '\n== %s alone\n' "$module"
  cd "$copy/$module"
  for sibling in "${modules[@]}"; do
    [ "$sibling" = "$module" ] || go mod edit -replace="$(module_path "$sibling")=$copy/$sibling"
  done
  go build ./...
  go vet ./...
  go test -short ./...
done
