// Package report writes the results of package design/check: an HTML page with
// pictures ([HTML]), and JSON for programs ([JSON]). Package design/check itself
// writes text for terminals.
//
// # The page
//
// The page is self-contained: pictures are SVG, styles are inline, and its only
// script adds a filter and buttons that copy; a policy in the page forbids any
// other. Package html/template escapes all text of the model, and invisible
// characters are spelled out.
//
// First comes the design: each entity with its key templates by table and index,
// the patterns with what they return and cost in half, 95 % and all of the
// partitions, money, and the findings. For each table and index the page then
// shows partitions as strips: the largest, those that patterns read, and one of
// each kind. Below are the rows of some partitions in sort order, with a bracket
// for each slice, and their items with attributes.
// Then the slice and the cost of each pattern follow, with the rows that were
// returned, dropped, not read, and just outside. A world of a million items gives
// a page of a few hundred kilobytes.
//
// A program can serve the same page ([Page.Live]): beside it are a pane for
// questions and one for the source.
//
// The templates are in the folder templates, named by what they show. The types
// in this package that have exported fields or methods are what they are
// executed with: Go computes where marks lie, templates write them.
//
// # Members of the JSON form
//
// Members never change their names or meaning; new ones may be added.
//
//	model     name, about, file
//	ok        no finding is an error
//	items     the number of items in the world
//	scale     the share of the declared items that were generated
//	summary   patterns, asExpected, errors, warnings, notes
//	patterns  of each: name, about, place, ok, operation, request, notARange
//	          (message, advice: why there is no request), units (read units),
//	          waste (share of the bytes read), rate, growth (rows at the declared
//	          scale for each row read), report (the output of sortkey explain
//	          --json), failures (findings)
//	tables    of each table and index: table, index, items, bytes, partitions,
//	          declaredItems, declaredBytes, reads, writes (units per second at the
//	          declared rates), rowsWritten, itemsExpired, entities (entity, items, bytes), and the
//	          partitions mostItems, mostBytes, mostReads and mostWrites
//	          (partition in DynamoDB JSON, items, bytes, declaredItems,
//	          declaredBytes, and reads and writes in units per second)
//	bill      region, currency, date, source, spaces (of each: name, reads, writes,
//	          bytes, onDemand, provisioned, storage), total, streamRecords, streamCalls
//	findings  of each: rule, severity (error, warning, note), place, table, index,
//	          entity, pattern, message, keys, advice, accepted
//
// A place has the members file, line and column, the latter two from 1.
package report
