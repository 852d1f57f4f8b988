// Package resident makes what a server has in memory what it serves with, not
// what it started with.
//
// Starting runs the initialisation of every package of the program and the code
// of its command line, each page of which the kernel counts as resident from
// then on, with its neighbours. A server needs few of them again. [Listener]
// gives them back when the start is over.
package resident

import (
	"net"
	"sync"
)

// A listener calls started before its first Accept.
type listener struct {
	net.Listener
	started sync.Once
}

// Listener returns ln. Its first Accept, when all is ready to serve, takes the
// pages of files that can only be read out of the process: those of the program
// and of the system's libraries. They stay in the cache of the kernel, and one
// that is used again is there again without reading a disk. It takes less than
// a millisecond, once; where the system is not Linux it does nothing.
func Listener(ln net.Listener) net.Listener { return &listener{Listener: ln} }

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	l.started.Do(release)
	return l.Listener.Accept()
}
