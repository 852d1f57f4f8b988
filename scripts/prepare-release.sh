#!/usr/bin/env bash
# Prepares a release of all modules: sets the version at which they require each
# other, tidies them, and proves with a module proxy in a folder that
# go install …/cmd/sortkey@VERSION works and that each module builds and passes
# its tests alone. It changes go.mod, go.sum, go.work and all.work, and prints the commands
# that commit and tag; it runs none of them.
#
#   scripts/prepare-release.sh v0.1.0
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?usage: scripts/prepare-release.sh VERSION}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "$version is not a version such as v0.1.0" >&2; exit 2; }
grep -q "^## $version" CHANGELOG.md || { echo "CHANGELOG.md has no section for $version" >&2; exit 1; }
. scripts/lib/modules.sh
ours=$(module_path .)
tags=("$version")
for module in "${modules[@]:1}"; do
  case $module in fuzz | cmd/sortkey/browser) ;; *) tags+=("$module/$version") ;; esac
  sed -i -E "s#^(\s*(require )?$ours(/[a-z/]+)? )v[^ ]+#\1$version#" "$module/go.mod"
done
sed -i -E "s#^(\s*$ours(/[a-z/]+)? )v[^ ]+ =>#\1$version =>#" go.work all.work
sed -i -E "s#(sortkey[@:])v[0-9][^ ]*#\1$version#" deploy/design.yml
scripts/check-modules.sh --tidy
scripts/check-modules.sh
version=$version scripts/check-install.sh
cat <<TEXT

$version is prepared. To release it:

    git commit -am "release $version"
$(printf '    git tag %s\n' "${tags[@]}")
    git push --atomic origin main ${tags[*]}
TEXT
