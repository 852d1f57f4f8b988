#!/usr/bin/env bash
# Reads each template in a folder, Terraform, CloudFormation, SAM or Serverless,
# and lists which load and what the others say: check-templates.sh FOLDER. A
# folder in it is read as a project. The templates of public repositories are a
# test that no table in this repository can be.
set -euo pipefail
folder=$(realpath "${1:?usage: check-templates.sh FOLDER}")
cd "$(dirname "$0")/.."
go build -o "${TMPDIR:-/tmp}/sortkey-templates" ./cmd/sortkey

loaded=0 refused=0
for template in "$folder"/*; do
  if out=$("${TMPDIR:-/tmp}/sortkey-templates" design import "$template" 2>&1); then
    loaded=$((loaded + 1))
    printf 'loaded   %s\n' "${template##*/}"
  else
    refused=$((refused + 1))
    printf 'refused  %s: %s\n' "${template##*/}" "$(head -n 1 <<<"$out")"
  fi
done
printf '%d loaded, %d refused\n' "$loaded" "$refused"
