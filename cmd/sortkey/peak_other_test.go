//go:build !unix

package main

import "os"

// peakMemory is not supported.
func peakMemory(*os.ProcessState) int64 { return 0 }
