package fuzz_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestPropertyTransactionsOnServers is TestPropertyTransactions over HTTP: clients send their requests to three
// processes of the command that share a database. Meanwhile the test kills and restarts servers, and stops PostgreSQL
// as a crash would.
//
// A server may have executed a request without an answer, or not. A request may lack an answer only if its server was
// killed or the database crashed while it ran. The first read on each connection that a crash broke may also lack an
// answer, because servers do not repeat reads.
func TestPropertyTransactionsOnServers(t *testing.T) {
	proptest.NeedLong(t)
	cluster := pgtest.New(t)
	program := cmdtest.Build(t)
	var n faultCounts
	for round := range proptest.Cases(2) {
		seed := proptest.Seed() + int64(round)
		if !serversRound(t, seed, cluster, program, &n) {
			t.Fatalf("to repeat this, set SORTKEY_SEED=%d", seed)
		}
		n.histories++
	}
	t.Logf("%d histories of three servers have a serial order: %d operations, %d of them unanswered; %d kills of a server and %d crashes of the database",
		n.histories, n.operations, n.unanswered, n.kills, n.crashes)
}

type faultCounts struct{ histories, operations, unanswered, kills, crashes int }

// A faultyServer is a server that a test kills and starts again.
type faultyServer struct {
	process *cmdtest.Process
	client  atomic.Pointer[requestClient] // of the process
	faults  atomic.Int64                  // incremented at the beginning and end of each fault: odd during a fault
	fault   sync.Mutex                    // held during a fault
}

func (s *faultyServer) start(t *testing.T, program, url string) {
	t.Helper()
	s.process = cmdtest.Serve(t, exec.Command(program, "serve", "--addr", "127.0.0.1:0", "--store", url))
	s.client.Store(&requestClient{serverEngine(t, "server", s.process.URL).send})
}

// kill kills the process. It fails the test if the process has panicked or, unless the database has crashed, reported
// errors.
func (s *faultyServer) kill(t *testing.T, crashed bool) {
	t.Helper()
	if !crashed {
		s.process.Kill(t)
	} else if killed := s.process.KillAfter(t, 0); !killed || strings.Contains(s.process.Stderr.String(), "panic") {
		t.Fatalf("a server ended by itself or panicked: %s", &s.process.Stderr)
	}
}

// begin begins a fault, and end ends it.
func (s *faultyServer) begin() {
	s.fault.Lock()
	s.faults.Add(1)
}

func (s *faultyServer) end() {
	s.faults.Add(1)
	s.fault.Unlock()
}

// run sends a request once. If a fault prevents an answer, run waits until the fault is over, so that a client loses
// one request and not all.
func (s *faultyServer) run(r *transact) outcome {
	before := s.faults.Load()
	got := s.client.Load().run(r)
	if !got.unanswered {
		return got
	}
	if before%2 == 0 && s.faults.Load() == before {
		return got
	}
	s.fault.Lock()
	defer s.fault.Unlock()
	return outcome{unanswered: true}
}

// createTables creates the tables in a new database.
func createTables(t *testing.T, url string) {
	t.Helper()
	server := &faceServer{open: opens(func() (*postgres.Store, error) {
		return postgres.Open(t.Context(), url, postgres.Options{})
	})}
	err := server.start()
	for i := range transactTables {
		if err == nil {
			err = server.client.Load().create(t.Context(), i)
		}
	}
	if err == nil {
		err = server.client.Load().db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serversRound runs one program on three new servers of a new database, with up to three faults. It counts the faults
// and reports whether the history has a serial order.
func serversRound(t *testing.T, seed int64, cluster *pgtest.Cluster, program string, counts *faultCounts) bool {
	t.Helper()
	d := draw{rand.New(rand.NewPCG(uint64(seed), 2))}
	url := cluster.Database(t)
	if err := postgres.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	createTables(t, url)
	servers := make([]*faultyServer, 3)
	for i := range servers {
		servers[i] = new(faultyServer)
		servers[i].start(t, program, url)
	}
	requests := d.program(3+d.IntN(4), 30+d.IntN(20), func(int) bool { return false })
	all := 0
	for _, of := range requests {
		all += len(of)
	}

	// A fault begins when this many requests have been sent.
	strikes := make([]int, 1+d.IntN(3))
	for i := range strikes {
		strikes[i] = 1 + d.IntN(all*3/4)
	}
	due, over := make(chan struct{}, len(strikes)), make(chan struct{})
	var sent atomic.Int64
	var history []porcupine.Operation
	var wait sync.WaitGroup
	wait.Go(func() {
		history = runProgram(requests, func(client int, r *transact) outcome {
			n := int(sent.Add(1))
			for _, at := range strikes {
				if at == n {
					due <- struct{}{}
				}
			}
			if n > all { // the last reads come after all faults
				<-over
			}
			return servers[client%len(servers)].run(r)
		})
	})
	crash, crashed := seed%2 == 0, false
	for range strikes {
		<-due
		if crash {
			crashed = true
			counts.crashes++
			for _, s := range servers {
				s.begin()
			}
			cluster.Crash(t)
			cluster.Start(t)
			for _, s := range servers {
				s.end()
			}
		} else {
			counts.kills++
			s := servers[d.IntN(len(servers))]
			s.begin()
			s.kill(t, crashed)
			s.start(t, program, url)
			s.end()
		}
		crash = d.often(40)
	}
	close(over)
	wait.Wait()
	for _, s := range servers {
		s.kill(t, crashed)
	}
	counts.operations += len(history)
	for _, op := range history {
		if op.Output.(outcome).unanswered {
			counts.unanswered++
		}
	}
	if checkSerial(t, history) {
		return true
	}
	for i, s := range servers {
		t.Logf("server %d, since it was started last: %s", i, &s.process.Stderr)
	}
	return false
}
