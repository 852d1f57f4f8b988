// Command diff sends the same requests to two DynamoDB endpoints and reports
// where their answers differ.
//
//	go run ./fuzz/diff --ours http://127.0.0.1:8000 --peer dynalite=http://127.0.0.1:4567 --requests 20000
//
// Requests come from a seed: valid ones over random schemas, and nearly valid
// ones, which are valid ones with a mistake; statements and reads of streams are
// among them. Answers are compared by status,
// exception, text and body, after what no two endpoints can agree on (times,
// ids, sizes, the order of sets and of scans) has been taken out. Differences
// are grouped by kind. Those in the list of known.go are counted under their
// reason; the others are printed with the first request that shows them, and
// the command ends with status 1.
//
// A request may stand for reading what is new in the stream of a table: its answer
// has the changes of each item in their order, less those of items whose history
// has differed since the last such request.
//
// scripts/diff.sh starts the peers.
package main
