// Package contest runs embedded stores in processes of their own and asks them to measure
// themselves.
//
// The program with the stores is bench/embedded, a module of its own, so that the modules of
// other stores are nowhere in those of Sortkey. It takes these arguments:
//
//	list                       print a [Catalogue] as JSON
//	run STORE MODE DIR ITEMS   fill a store, then answer [Request]s from standard input
//
// A process of its own has its own heap, so a store pays for its own garbage collection, and
// for what it does in the background.
package contest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// A Mode is where a store keeps its items.
type Mode string

// The modes.
const (
	// Memory is in memory, or in files without waiting for the disk where a store has no
	// such form.
	Memory Mode = "memory"
	// Disk is in files. A write is on the disk when it returns.
	Disk Mode = "disk"
)

// A Catalogue is the stores and works of a program.
type Catalogue struct {
	Stores []Store
	Works  []Work
}

// A Store is a store that can be measured, or could be.
type Store struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Skipped says why the program lacks it.
	Skipped string `json:"skipped,omitempty"`
}

// A Work is an operation to measure.
type Work struct {
	Name, About string
	// Rows is the number of items that an operation returns.
	Rows int
	// Below is a work of the first store alone, which does the same below its operations.
	// It is measured in the same rounds.
	Below string `json:",omitempty"`
}

// A Request asks for one round of a work or, without a work, for the answers to compare.
type Request struct {
	Work     string
	Duration time.Duration
}

// A Reply answers a request.
type Reply struct {
	// Answers has what the store answers to some calls of each work, a line each.
	Answers []string
	Round   Round
	Error   string
}

// A Round has the figures of one round.
type Round struct {
	Ops int64
	// Elapsed is the time of the round, and Processor what the process used since the
	// previous round, so that work in the background is counted too.
	Elapsed, Processor time.Duration
	Allocs, AllocBytes uint64
}

// List returns the catalogue of a program.
func List(ctx context.Context, program string) (c Catalogue, err error) {
	cmd := exec.CommandContext(ctx, program, "list")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	if err != nil {
		return c, fmt.Errorf("%s list: %w", program, err)
	}
	return c, nil
}

// A Process is a store that runs.
type Process struct {
	Name string

	cmd *exec.Cmd
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
}

// Start starts a process with a store and a number of items. Dir is a folder of its own.
func Start(ctx context.Context, program, name string, mode Mode, dir string, items int) (*Process, error) {
	p := &Process{Name: name}
	p.cmd = exec.CommandContext(ctx, program, "run", name, string(mode), dir, strconv.Itoa(items))
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.enc, p.dec = json.NewEncoder(p.in), json.NewDecoder(out)
	return p, p.cmd.Start()
}

// Answers returns what the store answers to some calls of each work.
func (p *Process) Answers() ([]string, error) {
	reply, err := p.ask(Request{})
	return reply.Answers, err
}

// Round runs one round of a work that lasts at least d.
func (p *Process) Round(work string, d time.Duration) (Round, error) {
	reply, err := p.ask(Request{Work: work, Duration: d})
	return reply.Round, err
}

func (p *Process) ask(r Request) (reply Reply, err error) {
	if err = p.enc.Encode(r); err == nil {
		err = p.dec.Decode(&reply)
	}
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	if err != nil {
		return reply, fmt.Errorf("%s: %w", p.Name, err)
	}
	return reply, nil
}

// Close ends the process.
func (p *Process) Close() error {
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}
