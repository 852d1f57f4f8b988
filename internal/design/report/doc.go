// Package report writes what package design/check found: one HTML file with
// pictures for people ([HTML]), JSON for programs ([JSON]), and SARIF for code
// review ([SARIF]). Text for terminals is written by design/check itself.
//
// # The page
//
// The page needs nothing but itself: pictures are SVG, styles are inside, and
// there is no script. Whatever comes from a model goes through the methods of
// one small writer, which escape it and write out characters that cannot be
// seen. For each table and index the page shows partitions as strips, the
// largest, those that patterns read and one of each kind; below them the rows
// of some partitions in sort order, with a bracket for each slice; and the skew
// of sizes and rates. Then each pattern has its slice with what was returned,
// dropped, not read, and just outside, and its cost; findings come last. A
// world of a million items gives a page of a few hundred kilobytes.
//
// # Members of the JSON form
//
// Members do not change their names or meaning; new ones may come.
//
//	model     name, about, file
//	ok        no finding is an error
//	items     how many items the world has
//	scale     generated items by declared ones, 1 when all are there
//	summary   patterns, asExpected, errors, warnings, notes
//	patterns  of each: name, about, place, ok, operation, request, notARange
//	          (message, advice: why there is no request), units (as it is asked),
//	          waste (share of the bytes read), rate, growth (rows at the declared
//	          scale for each that is read), report (what sortkey explain --json
//	          prints), failures (findings)
//	tables    of each table and index: table, index, items, bytes, partitions,
//	          declaredItems, declaredBytes, entities (entity, items, bytes), and the
//	          partition that has mostItems, mostBytes, mostReads, mostWrites
//	          (partition in DynamoDB JSON, items, bytes, declaredItems,
//	          declaredBytes, and reads and writes in units a second)
//	findings  of each: rule, severity (error, warning, note), place, table, index,
//	          entity, pattern, message, keys, advice, accepted
//
// A place has the members file, line and column, the latter two from 1.
package report
