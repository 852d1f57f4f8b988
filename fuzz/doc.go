// Package fuzz has the tests that cross packages. They send random tables,
// items and requests to a whole database and to a simple model that shares no
// code with it, and compare the answers.
//
// The model keeps Go values in maps and slices. It compares strings and binary
// with bytes.Compare, prefixes with strings.HasPrefix, and numbers exactly with
// apd. It computes sizes, units, scan order and the order of ties in an index
// independently, from their definitions. It predicts every page of a query or
// scan: the items and their order, the counts, the capacity and the
// LastEvaluatedKey.
//
// The tests named TestProperty run with all other tests:
//
//	go test ./fuzz -run Property -count=1
//
// They use a fixed seed. SORTKEY_SEED sets another seed, or a random one with
// the word random; a failing test prints the seed. SORTKEY_CHECKS multiplies
// the number of cases. A failing case is shrunk, printed as the requests it
// sent, and stored under testdata, so every later run repeats it.
//
// TestPropertyTransactions runs clients concurrently and uses porcupine to
// search for a serial order that explains their answers. TestPropertyTransactionsOnServers
// does so over HTTP while servers are killed and PostgreSQL crashes; it needs
// PostgreSQL's programs. TestPropertyFace does so through the store in Go, while tables and
// indexes come and go and databases are forked, closed and opened again.
//
// TestLambda delivers a stream to handlers written with aws-lambda-go. This module
// requires it so that programs with Sortkey do not.
//
// TestPropertyMarshal and TestPropertyUnmarshal compare the conversion of Go values in
// package attr with that of the AWS SDK, on random types. The rules are those of
// attributevalue v1.21.12 and later, which this module requires; older versions treat
// pointers to pointers and omitted elements in another way. TestMarshalDifferences and
// TestUnmarshalDifferences list where the results differ on purpose.
//
// FuzzQuery, FuzzHistory, FuzzHandler and FuzzMarshal are native fuzz targets:
//
//	go test ./fuzz -run '^$' -fuzz FuzzHandler -fuzztime 60s
package fuzz
