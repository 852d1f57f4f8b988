#!/usr/bin/env bash
# Makes the jars, for build-packages.sh: one of classes, and one with the command for each platform.
set -euo pipefail
cd "$(dirname "$0")"

version=$1 folder=$2 work=$3
shift 3
number=${version#v}
mvn -q -B -f pom.xml -Drevision="$number" -DbuildDirectory="$work/java" -Dproject.build.outputTimestamp="$SOURCE_DATE_EPOCH" package >&2
cp "$work/java/sortkey-junit-$number.jar" "$folder/"
sed "s/\${revision}/$number/" pom.xml >"$folder/sortkey-junit-$number.pom"
printf "%s\n" "sortkey-junit-$number.jar" "sortkey-junit-$number.pom"
for target; do
  resources=$work/resources-$target
  mkdir -p "$resources/io/github/sortkey/$target"
  cp "$work/sortkey-$version-$target"/sortkey{,.exe} "$resources/io/github/sortkey/$target/" 2>/dev/null || true
  (cd "$resources/io/github/sortkey/$target" && echo "$(sha256sum sortkey* | cut -d' ' -f1) $(wc -c <"$(echo sortkey*)")" >SHA256)
  jar --create --date="$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" --file "$folder/sortkey-junit-$number-$target.jar" -C "$resources" io
  echo "sortkey-junit-$number-$target.jar"
done
