// Package fuzz has the tests that cross packages. They send random tables, items and requests to a whole database and
// to a simple model that shares no code with the database, and compare the answers.
//
// The model keeps Go values in maps and slices. It compares strings and binary with bytes.Compare, prefixes with
// strings.HasPrefix, and numbers exactly with apd. It computes sizes, units, scan order and the order of ties in an
// index independently, from their definitions. It predicts every page of a query or scan: the items and their order,
// the counts, the capacity and the LastEvaluatedKey.
//
// All tests use a fixed seed. SORTKEY_SEED sets another seed, or a random seed if it is "random"; a failing test
// prints the seed. SORTKEY_CHECKS multiplies the number of cases.
//
// TestOracle sends long random sequences of requests and predicts every answer, as JSON: items, documents, counts,
// pages and their LastEvaluatedKeys, consumed units, old and new values, failed conditions with their items, reasons
// of cancelled transactions, batches, segments, and refusals. Meanwhile tables, indexes and the time to live change.
// From time to time it compares all items, the entries of indexes, and the items that result from replaying the
// streams. In memory it checks that a page does not read more rows of the store than it counts.
//
// Each request (type message) includes a function that changes the model (type service). So the test can leave out
// some requests of a sequence and predict the others again: that is how it reduces a mismatch to a handful of
// requests. It kills the servers on disk and on PostgreSQL. Then the whole database must equal the model, either with
// or without the request that got no answer. In memory, 500 requests run with all other tests and 20000 with
// SORTKEY_LONG. To run any number, or to test another implementation as a control, use scripts/oracle.sh:
//
//	go test ./fuzz -run Oracle -count=1
//	go test ./fuzz -run 'TestOracle$' -count=1 -v -requests 200000
//
// TestOracleFindsFaults and TestOracleAfterKills inject faults and require that the oracle finds each of them.
// TestModelStandsAlone checks that the files of the model import nothing of Sortkey.
//
// The oracle does not predict: the messages of errors, except of a failed condition in a transaction; behaviour that
// no source documents (such as which of two errors of one request DynamoDB returns); the order of scans of an index
// with several partition key attributes; and items that expire while a server sweeps.
//
// TestRequests writes requests like those of TestOracle to a file, together with PartiQL statements, requests
// without expressions and requests with mistakes. scripts/replay.sh sends them to two revisions and compares the
// answers.
//
// TestPropertyTransactions runs concurrent clients, which send requests or use the Go API, while tables and indexes
// are created and deleted, and databases are forked, closed and opened again. It uses porcupine to search for a
// serial order that explains their answers. TestPropertyTransactionsOnServers does the same over HTTP while servers
// are killed and PostgreSQL crashes; it needs PostgreSQL's programs.
//
// TestLambda delivers a stream to handlers written with aws-lambda-go. This module requires aws-lambda-go so that
// programs that use Sortkey need not.
//
// TestPropertyMarshal and TestPropertyUnmarshal compare the conversion of Go values in package attr with that of the
// AWS SDK, on random types. The rules are those of attributevalue v1.21.12 and later, which this module requires;
// older versions treat pointers to pointers and omitted elements differently.
//
// FuzzHandler and FuzzMarshal are native fuzz targets:
//
//	go test ./fuzz -run '^$' -fuzz FuzzHandler -fuzztime 60s
package fuzz
