#!/usr/bin/env bash
# Lists the modules that the command and the libraries link, on every system
# that a release has binaries for, with their licences, as VERSION, MODULE and
# LICENCE. Fails on a copyleft licence and on one that it does not know. It reads
# the licence files in the module cache.
#
# The workbench and the command may link modules under the MPL-2.0, which covers
# only its own files: hashicorp/hcl reads Terraform's language. We copy and change
# none of them. The libraries may not, so that a program that imports one need
# not look into it.
set -euo pipefail
cd "$(dirname "$0")/.."

export GOWORK=$PWD/all.work
libraries=(./... ./store/disk/... ./store/postgres/... ./store/tikv/...)
packages=("${libraries[@]}" ./internal/design/... ./design/... ./cmd/sortkey/... ./cmd/sortkey/tikv/...)

# modules takes packages and prints path, version and folder of the modules that are linked. Cgo is
# off in a release, but a program that imports the store may have it on.
modules() {
  local format='{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}'
  for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
    for cgo in 0 1; do
      CGO_ENABLED=$cgo GOOS=${target%/*} GOARCH=${target#*/} go list -deps -f "$format" "$@"
    done
  done
}

# licences prints the licences in the text on standard input, one per line.
licences() {
  local text
  text=$(tr -s '[:space:]' ' ' | tr '[:upper:]' '[:lower:]')
  has() { [[ $text == *"$1"* ]]; }
  if has "mozilla public license" && has "version 2.0"; then
    echo MPL-2.0
    return
  fi
  for copyleft in "general public license" "eclipse public license" \
    "common development and distribution license" "european union public licence" "server side public license" "sharealike"; do
    ! has "$copyleft" || echo "copyleft ($copyleft)"
  done
  ! { has "apache license" && has "version 2.0"; } || echo Apache-2.0
  ! has "permission is hereby granted, free of charge" || echo MIT
  ! has "permission to use, copy, modify, and/or distribute" || echo ISC
  if has "redistribution and use in source and binary forms"; then
    if has "endorse or promote products"; then echo BSD-3-Clause; else echo BSD-2-Clause; fi
  fi
}

list=$(modules "${packages[@]}")
library=$(modules "${libraries[@]}")
bad=0
while IFS=$'\t' read -r path version folder; do
  found=$(find -L "$folder" -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'unlicense*' \) | sort |
    while IFS= read -r file; do
      of=$(licences <"$file")
      echo "${of:-unknown ($(basename "$file"))}"
    done | sort -u | paste -sd, - | sed 's/,/, /g')
  : "${found:=unknown (no licence file)}"
  printf '%-40s %-60s %s\n' "$version" "$path" "$found"
  if [[ $found == *MPL-2.0* ]] && grep -qF "$path"$'\t' <<<"$library"; then
    found="copyleft ($found in a library)"
  fi
  case $found in *copyleft* | *unknown*) bad=$((bad + 1)) ;; esac
done < <(sort -u <<<"$list")
if [ "$bad" -gt 0 ]; then
  printf 'licences.sh: %d modules have a copyleft or an unknown licence\n' "$bad" >&2
  exit 1
fi
