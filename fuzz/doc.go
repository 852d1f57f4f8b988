// Package fuzz holds the tests that cross rooms: random tables, items and
// requests, answered by a whole database and by a naive model that shares no
// code with it.
//
// The model keeps Go values in maps and slices. It compares strings and binary
// with bytes.Compare, prefixes with strings.HasPrefix, and numbers exactly
// with apd; sizes, units, scan order and the order of ties in an index are
// computed a second time from their definitions. It predicts every page of a
// query or scan: the items and their order, the counts, the capacity and the
// LastEvaluatedKey.
//
// The tests named TestProperty run with the rest:
//
//	go test ./fuzz -run Property -count=1
//
// They begin at a fixed seed. SORTKEY_SEED gives another, or the word random,
// and the seed is printed when one fails; SORTKEY_CHECKS multiplies the number
// of cases. A failing case is shrunk, printed as the requests it sent, and kept
// under testdata, from where every later run repeats it.
//
// TestPropertyTransactions runs clients at the same time and has porcupine look
// for a serial order that gives their answers.
//
// FuzzQuery, FuzzHistory and FuzzHandler are native fuzz targets:
//
//	go test ./fuzz -run '^$' -fuzz FuzzHandler -fuzztime 60s
package fuzz
