#!/usr/bin/env bash
# Writes the formula of Homebrew and the manifest of Scoop from the checksums of a release, for build-packages.sh.
set -euo pipefail

version=${1:?usage: manifests.sh VERSION FOLDER}
folder=${2:?usage: manifests.sh VERSION FOLDER}
number=${version#v}
address=https://github.com/sortkey/sortkey/releases/download/$version

# sum prints the checksum of the archive of a platform.
sum() {
  local found
  found=$(sed -n "s/^\([0-9a-f]\{64\}\)  sortkey-$version-$1\.tar\.gz$/\1/p" "$folder/SHA256SUMS")
  [ -n "$found" ] || { echo "$folder/SHA256SUMS has no sortkey-$version-$1.tar.gz" >&2; exit 1; }
  echo "$found"
}

declare -A sums
for platform in {darwin,linux,windows}-{amd64,arm64}; do
  sums[$platform]=$(sum "$platform") # here, where a failure ends the script
done

# archive prints the address and the checksum of a platform, for the formula.
archive() { printf 'url "%s/sortkey-%s-%s.tar.gz"\n      sha256 "%s"' "$address" "$version" "$1" "${sums[$1]}"; }

cat >"$folder/sortkey.rb" <<RUBY
class Sortkey < Formula
  desc "Ordered key-value store that answers like DynamoDB"
  homepage "https://github.com/sortkey/sortkey"
  version "$number"
  license "Apache-2.0"

  on_macos do
    on_arm do
      $(archive darwin-arm64)
    end
    on_intel do
      $(archive darwin-amd64)
    end
  end

  on_linux do
    on_arm do
      $(archive linux-arm64)
    end
    on_intel do
      $(archive linux-amd64)
    end
  end

  def install
    bin.install "sortkey"
    generate_completions_from_executable(bin/"sortkey", "completion")
  end

  test do
    assert_match "sortkey", shell_output("#{bin}/sortkey version")
  end
end
RUBY
echo sortkey.rb

cat >"$folder/sortkey.json" <<JSON
{
    "version": "$number",
    "description": "Ordered key-value store that answers like DynamoDB",
    "homepage": "https://github.com/sortkey/sortkey",
    "license": "Apache-2.0",
    "architecture": {
        "64bit": {
            "url": "$address/sortkey-$version-windows-amd64.tar.gz",
            "hash": "${sums[windows-amd64]}",
            "extract_dir": "sortkey-$version-windows-amd64"
        },
        "arm64": {
            "url": "$address/sortkey-$version-windows-arm64.tar.gz",
            "hash": "${sums[windows-arm64]}",
            "extract_dir": "sortkey-$version-windows-arm64"
        }
    },
    "bin": "sortkey.exe"
}
JSON
echo sortkey.json
