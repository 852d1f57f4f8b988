#!/usr/bin/env bash
# Makes a site of docs/ and README.md, and fails if a link leads to a page or a part that does not exist. It needs
# Python 3 and skips without it, or where pip cannot install zensical, the successor of mkdocs-material.
#
#   scripts/build-site.sh FOLDER [REF]    # REF is the branch or tag that links to source files name (default: main)
set -euo pipefail
folder=$(realpath -m "${1:?usage: scripts/build-site.sh FOLDER [REF]}")
cd "$(dirname "$0")/.."
source=https://github.com/sortkey/sortkey/blob/${2:-main}
zensical=${XDG_CACHE_HOME:-$HOME/.cache}/sortkey/zensical-0.0.73
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v python3 >/dev/null; then
  echo "the site: SKIPPED, python3 is missing"
  exit 0
fi
if [ ! -x "$zensical/bin/zensical" ] &&
  ! { python3 -m venv "$zensical" && "$zensical/bin/pip" install -q "zensical==${zensical##*-}"; } >"$work/log" 2>&1; then
  echo "the site: SKIPPED, cannot install zensical: $(tail -1 "$work/log")"
  exit 0
fi

# README.md is the first page. Links out of docs/ lead to the repository; TestLinks holds that their files exist.
cp -r mkdocs.yml docs "$work"
sed -E "s#\]\(docs/#](./#g; s#\]\(([A-Za-z][^):, ]*)\)#]($source/\1)#g" README.md >"$work/docs/index.md"
sed -i "s#](\.\./#]($source/#g" "$work"/docs/*.md
(cd "$work" && NO_COLOR=1 "$zensical/bin/zensical" build --strict) >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir -p "$(dirname "$folder")"
mv -T "$work/site" "$folder"
echo "wrote $folder: open $folder/index.html"
