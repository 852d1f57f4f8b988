package playground

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
)

// An Engine is the program that answers the page.
type Engine struct {
	Program []byte // WebAssembly
	// Runtime is the script that runs a program of the Go version that compiled it. Licence is Go's, or nil.
	Runtime, Licence []byte
}

// The module of the command, and the program in it.
const (
	module = "github.com/sortkey/sortkey/cmd/sortkey"
	engine = module + "/internal/playground/engine"
)

// goVersion is the line of the go.mod that chooses the Go version.
const goVersion = "1.26.0"

// BuildVersion compiles the engine of a published version of the module with the Go that is installed, which
// downloads the module if it must.
func BuildVersion(ctx context.Context, version string) (*Engine, error) {
	folder, err := os.MkdirTemp("", "sortkey-playground-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	mod := fmt.Sprintf("module playground\n\ngo %s\n\nrequire %s %s\n", goVersion, module, version)
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(mod), 0o666); err != nil {
		return nil, err
	}
	return build(ctx, folder, []string{"GOWORK=off"}, "-mod=mod")
}

// BuildCheckout compiles the engine of a checkout of the repository.
func BuildCheckout(ctx context.Context, folder string) (*Engine, error) {
	return build(ctx, folder, nil)
}

// build compiles the engine that the module in a folder has or requires.
func build(ctx context.Context, folder string, env []string, flags ...string) (*Engine, error) {
	program, err := os.CreateTemp("", "sortkey-playground-*.wasm")
	if err != nil {
		return nil, err
	}
	defer os.Remove(program.Name())
	if err := program.Close(); err != nil {
		return nil, err
	}
	args := append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", program.Name()}, flags...)
	if _, err := run(ctx, folder, env, append(args, engine)...); err != nil {
		return nil, err
	}

	root, err := run(ctx, folder, env, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	e := new(Engine)
	if e.Runtime, err = os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, advice.New("install Go from https://go.dev/dl", "this Go has no script for WebAssembly: %w", err)
	}
	e.Licence, _ = os.ReadFile(filepath.Join(root, "LICENSE")) // some systems keep it elsewhere
	if e.Program, err = os.ReadFile(program.Name()); err != nil {
		return nil, err
	}
	return e, nil
}

// run runs the go command in a folder and returns what it prints. Env are further variables.
func run(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	cmd.Env = slices.Concat(os.Environ(), env, []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"})
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(failure.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
