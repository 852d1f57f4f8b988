// Command modproxy writes the modules of a checkout to a folder that the go command can use as a module proxy, as if
// the modules were published:
//
//	go run ./modproxy -root .. -version v0.1.0 -to /tmp/proxy
//	GOPROXY=file:///tmp/proxy,https://… GONOSUMDB=github.com/sortkey/sortkey go install …/cmd/sortkey@v0.1.0
//
// It zips the modules as the go command zips a tag, so a file that a release would lack is missing here too.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const prefix = "github.com/sortkey/sortkey"

func main() {
	log.SetFlags(0)
	log.SetPrefix("modproxy: ")
	root := flag.String("root", ".", "root of the checkout")
	version := flag.String("version", "", "version of all modules, such as v0.1.0")
	to := flag.String("to", "", "folder of the proxy")
	flag.Parse()
	if *version == "" || *to == "" {
		log.Fatal("-version and -to are required")
	}
	if err := run(*root, *version, *to); err != nil {
		log.Fatal(err)
	}
}

func run(root, version, to string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "tools") {
			return filepath.SkipDir
		}
		if d.Name() != "go.mod" {
			return nil
		}
		return publish(filepath.Dir(path), version, to)
	})
}

// publish writes the module in dir to the proxy.
func publish(dir, version, to string) error {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}

	path := modfile.ModulePath(text)
	if path != prefix && !strings.HasPrefix(path, prefix+"/") {
		return fmt.Errorf("%s: module path %s does not begin with %s", dir, path, prefix)
	}
	var archive bytes.Buffer
	if err := zip.CreateFromDir(&archive, module.Version{Path: path, Version: version}, dir); err != nil {
		return err
	}

	escaped, err := module.EscapePath(path)
	if err != nil {
		return err
	}
	folder := filepath.Join(to, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}

	for name, data := range map[string][]byte{
		"list":            []byte(version + "\n"),
		version + ".info": fmt.Appendf(nil, `{"Version":%q}`, version),
		version + ".mod":  text,
		version + ".zip":  archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
