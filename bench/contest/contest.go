// Package contest runs embedded stores in processes of their own, and asks these to measure themselves.
//
// The program with the stores is bench/embedded. It is a separate module, so that the modules of Sortkey do not
// depend on other stores. It takes these arguments:
//
//	list                       print a [Catalogue] as JSON
//	run STORE MODE DIR ITEMS   fill a store, then answer [Request]s from standard input
//
// Each process has its own heap. So the figures of a store include its own garbage collection and work in the
// background, but not the garbage collection and work of other stores.
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

// A Mode says where a store keeps its items.
type Mode string

// The modes.
const (
	// Memory keeps the items in memory. A store that cannot do that uses files, but does not wait for the disk.
	Memory Mode = "memory"
	// Disk keeps the items in files. A write returns when its items are on the disk.
	Disk Mode = "disk"
)

// A Catalogue lists the stores and works of a program.
type Catalogue struct {
	Stores []Store
	Works  []Work
}

// A Store is an embedded store that the program can measure or, if Skipped is set, does not contain.
type Store struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Skipped says why the program does not contain the store.
	Skipped string `json:"skipped,omitempty"`
}

// A Work is an operation to measure.
type Work struct {
	Name, About string
	// Rows is the number of items that an operation returns.
	Rows int
	// Below names a work that does the same on a lower layer of the same store, and is empty without one. Only the
	// first store has such works. Both works are measured in the same rounds.
	Below string `json:",omitempty"`
}

// A Request asks for one round of a work. Without a work, it asks for the answers to compare.
type Request struct {
	Work     string
	Duration time.Duration
}

// A Reply answers a request.
type Reply struct {
	// Answers has a line for the result of each call that is compared between the stores.
	Answers []string
	Round   Round
	Error   string
}

// A Round has the figures of one round.
type Round struct {
	Ops int64
	// Elapsed is the time of the round by the clock. Processor is the processor time since the previous round, which
	// includes work in the background.
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

// A Process is a running process with one store.
type Process struct {
	Name string

	cmd *exec.Cmd
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
}

// Start starts a process that fills a store with a number of items. Dir is a folder for this store alone.
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

// Answers returns the store's results of some calls of each work.
func (p *Process) Answers() ([]string, error) {
	reply, err := p.ask(Request{})
	return reply.Answers, err
}

// Round runs one round of a work, for at least the time d.
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
