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
// All tests use a fixed seed. SORTKEY_SEED sets another seed, or a random one with the word
// random; a failing test prints the seed. SORTKEY_CHECKS multiplies the number of cases.
//
// TestOracle predicts every answer of long random sequences of requests, as JSON: items, documents,
// counts, pages and the places where they go on, consumed units, old and new values, failed
// conditions with their items, reasons of cancelled transactions, batches, segments, and refusals.
// Tables, indexes and the time to live change in the middle of it. From time to time all items are
// compared, those of indexes too, and what the streams of tables lead to. In memory, a page must not
// walk over more rows of the store than it counts. Its requests (type message) carry
// their own account of what they do to the model (type service), so a sequence without some of them
// can be predicted anew: that is how a mismatch becomes a handful of requests that repeat it. The
// servers on disk and on PostgreSQL are killed; the model with and without the request that has no
// answer is then compared with the whole database. In memory, 2000 requests run with all other tests and
// 20000 with SORTKEY_LONG; scripts/oracle.sh runs any number, and another implementation as a control:
//
//	go test ./fuzz -run Oracle -count=1
//	go test ./fuzz -run 'TestOracle$' -count=1 -v -requests 200000
//
// TestOracleFindsFaults and TestOracleAfterKills plant faults, each of which must be found.
// TestModelStandsAlone holds the model to files that use nothing of Sortkey.
//
// What it does not predict: the words of errors other than a failed condition's in a transaction, what
// the service does where no source says it (which of two faults of one request comes first), the order
// of scans of an index with several partition key attributes, and items that expire while a server sweeps.
//
// TestRequests writes such requests, with statements of PartiQL, requests without expressions and
// requests with mistakes, to a file: scripts/replay.sh compares the answers of two revisions.
//
// TestPropertyTransactions runs clients concurrently, which send requests or use the store in Go, while
// tables and indexes come and go and databases are forked, closed and opened again. It uses porcupine to
// search for a serial order that explains their answers. TestPropertyTransactionsOnServers does so over HTTP
// while servers are killed and PostgreSQL crashes; it needs PostgreSQL's programs.
//
// TestLambda delivers a stream to handlers written with aws-lambda-go. This module
// requires it so that programs with Sortkey do not.
//
// TestPropertyMarshal and TestPropertyUnmarshal compare the conversion of Go values in
// package attr with that of the AWS SDK, on random types. The rules are those of
// attributevalue v1.21.12 and later, which this module requires; older versions treat
// pointers to pointers and omitted elements in another way.
//
// FuzzHandler and FuzzMarshal are native fuzz targets:
//
//	go test ./fuzz -run '^$' -fuzz FuzzHandler -fuzztime 60s
package fuzz
