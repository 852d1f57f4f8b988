// Package report writes the result of package design/check: as text for a terminal ([Text]), as Markdown for a pull
// request ([Markdown]), as JSON for programs ([JSON]), and as a page ([HTML]). The text and the page use the same
// sentences to describe what a pattern reads or writes and how large a table is.
//
// # The page
//
// The page is self-contained: styles are inline, and its only script adds a filter and copy buttons. A content
// security policy forbids any other script. Package html/template escapes all text of the model, and the page spells
// out invisible characters.
//
// The page begins with the design: each entity with its key templates by table and index, and the numbers of the
// patterns that use it. The patterns follow. For each, the page shows how many rows it returns and what it costs, for
// the median, the 95th percentile and the worst of the values that it can be given. After them come the findings, the
// bill, and each table and index with its largest partition. At the end, the page has a card for each pattern, with
// its worst and its median slice.
//
// A picture of a partition shows its rows in the order of reading. A bracket surrounds the slice. The picture also
// shows the rows that a filter dropped, and those just outside the slice.
//
// A program can serve the same page ([Page.Live]). It then has a pane for queries and one for the source beside it.
//
// The templates are in the folder templates, named by what they show. Their data are the types in this package that
// have exported fields or methods.
//
// # Members of the JSON form
//
// Members never change their names or meaning; new ones may be added.
//
//	model     name, about, file
//	ok        no finding is an error
//	items     the number of items in the dataset
//	scale     the share of the declared items that were generated
//	summary   patterns, asExpected, errors, warnings, notes
//	patterns  of each: name, about, place, ok, operation, request, notARange
//	          (message, advice: why there is no request), units (read units),
//	          waste (share of the bytes read), rate, growth (rows at the declared
//	          scale for each row read), report (the output of sortkey explain
//	          --json), failures (findings)
//	tables    of each table and index: table, index, items, bytes, partitions,
//	          declaredItems, declaredBytes, reads, writes (units per second at the
//	          declared rates), rowsWritten, entities (entity, items, bytes,
//	          declaredItems), and the
//	          partitions mostItems, mostBytes, mostReads and mostWrites
//	          (partition in DynamoDB JSON, items, bytes, declaredItems,
//	          declaredBytes, and reads and writes in units per second)
//	bill      region, currency, date, source, spaces (of each: name, reads, writes,
//	          bytes, onDemand, provisioned, storage), total, streamRecords, streamCalls
//	findings  of each: rule, severity (error, warning, note), place, table, index,
//	          entity, pattern, message, keys, advice, accepted
//
// A place has the members file, line and column. Lines and columns count from 1.
package report
