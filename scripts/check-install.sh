#!/usr/bin/env bash
# Tries what docs/installing.md says, in folders outside the clone.
#
# With a module proxy in a folder, as once VERSION is tagged: go install of the command and its demo,
# and a program that gets the library, its engines on disk and PostgreSQL,
# sortkeytest and the workbench. Then, without that proxy, the same program with replacements for a clone.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. scripts/lib/proxy.sh

cd "$work"
GOFLAGS=-modcacherw GOBIN=$work go install "$prefix/cmd/sortkey@$version"
"$work/sortkey" version
"$work/sortkey" demo | tail -1

# program FOLDER writes a program that uses the library, two engines, sortkeytest and designtest.
program() {
  mkdir "$1"
  cat >"$1/main.go" <<'GO'
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/postgres"
)

type song struct {
	Artist string `dynamodbav:"artist"`
	Title  string `dynamodbav:"title"`
}

func main() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "songs")
	check(err)
	defer os.RemoveAll(dir)
	st, err := disk.Open(filepath.Join(dir, "songs.db"), disk.Options{})
	check(err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	check(err)
	check(db.CreateTable(ctx, "Songs", "artist / title"))
	songs := sortkey.Table[song](db, "Songs")
	check(songs.Put(ctx, song{"Nina", "Sinnerman"}))
	got, err := songs.Get(ctx, "Nina", "Sinnerman")
	check(err)
	check(db.Close())
	_, err = postgres.Open(ctx, "postgres://nobody@127.0.0.1:1/none", postgres.Options{})
	fmt.Println(got.Title, "from a folder; PostgreSQL is linked, and not there:", err != nil)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
GO
  cat >"$1/main_test.go" <<'GO'
package main

import (
	"os"
	"testing"

	"github.com/sortkey/sortkey/design/designtest"
	"github.com/sortkey/sortkey/sortkeytest"
)

func TestDefinitions(t *testing.T) {
	db := sortkeytest.New(t)
	text := "resource \"aws_dynamodb_table\" \"t\" {\n name = \"Things\"\n hash_key = \"id\"\n" +
		" attribute {\n  name = \"id\"\n  type = \"S\"\n }\n}\n"
	file := t.TempDir() + "/main.tf"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	designtest.Load(db, file)
	db.Put("Things", map[string]string{"id": "a"})
}

func TestSongs(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Songs", "artist / title")
	db.Put("Songs", song{"Nina", "Sinnerman"})
	if got := sortkeytest.Query[song](db, "Songs", "Nina"); len(got) != 1 {
		t.Errorf("%d songs, want 1", len(got))
	}
}
GO
}

echo "== a program with tagged modules"
program "$work/tagged"
cd "$work/tagged"
go mod init example.com/songs 2>/dev/null
go get "$prefix@$version" "$prefix/store/disk@$version" "$prefix/store/postgres@$version" "$prefix/design@$version" 2>/dev/null
go mod tidy 2>/dev/null
grep "$prefix" go.mod
go run .
go test .

echo "== a program with replacements for a clone"
unset GOPROXY GOMODCACHE GOFLAGS
program "$work/replaced"
cd "$work/replaced"
go mod init example.com/songs 2>/dev/null
go mod edit -replace "$prefix=$root" -replace "$prefix/store/disk=$root/store/disk" \
  -replace "$prefix/store/postgres=$root/store/postgres" \
  -replace "$prefix/design=$root/design" -replace "$prefix/internal/design=$root/internal/design"
GOWORK=off go mod tidy 2>/dev/null
grep "$prefix" go.mod
GOWORK=off go run .
GOWORK=off go test .
