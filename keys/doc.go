// Package keys builds and parses composite keys whose byte order is the order
// of their values.
//
// A [Template] such as
//
//	ORDER#{placed:date}#{orderId}
//
// is literal text with components in braces. [Template.Format] builds a key
// from Go values, and [Template.Scan] reads them back. [Template.Build] and
// [Template.Match] do the same with values in text form, by name. Parsing a key
// always returns the values it was built from: [Parse] refuses a template, and
// [Template.Format] a value, whose keys could be parsed in another way. The
// [*Error] says which component is wrong and what to do.
//
// For queries, [Template.Under], [Template.Between] and [Template.BeginsWith]
// return the [Range] of the keys below a level of the template. Package keyexpr
// turns ranges into key conditions for the AWS SDK.
//
// # Templates
//
// A component is {name}, {name:type}, {name:type:desc} or {name:desc}. Write {{
// and }} for literal braces. The delimiter is the text between components; it
// may differ from place to place. A component of variable length ends where the
// text after it begins. So its values must not contain that text, and unless
// the component is last, some text must follow it. Components of fixed width
// need no delimiter: {year:int(4)}{month:int(2)}.
//
// # Types
//
// Each value has a text form, which people type, and one canonical text form: 7
// for 007, and UTC for a time. A type encodes a value as a part of a key and
// decodes it again.
//
//	type         value                        part of the key            byte order
//	string       Ann                          Ann                        of the text
//	string(3)    JFK                          JFK                        of the text
//	path         photos/2026/a.jpg            photos/2026/a.jpg          of the text
//	int(5)       42                           00042                      of the numbers, from 0
//	signed(5)    -42, 42                      099957, 100042             of the numbers
//	decimal(5,2) -12.5, 12.5                  099987.49, 100012.50       of the numbers
//	number       42                           42                         none: 10 < 9, -1 < -2
//	year         2026                         2026                       of time
//	month        2026-01                      2026-01                    of time
//	date         2026-01-05                   2026-01-05                 of time
//	time         2026-01-05T10:00:00Z         2026-01-05T10:00:00Z       of time
//	millis       2026-01-05T10:00:00.120Z     2026-01-05T10:00:00.120Z   of time
//	micros       …T10:00:00.120000Z           …T10:00:00.120000Z         of time
//	nanos        …T10:00:00.120000000Z        …T10:00:00.120000000Z      of time
//	epoch        2026-01-05T10:00:00Z         1767607200                 of time, 1970 to 2286
//	epochms      2026-01-05T10:00:00.120Z     1767607200120              of time, 1970 to 2286
//	uuid         123e4567-e89b-12d3-a456-…    the same, lower case       of the text
//	ulid         01ARZ3NDEKTSV4RRFFQ69G5FAV   the same, upper case       of time of creation
//	ksuid        0ujtsYcgvSTl8PAuAdqWYSMnLOv  the same                   of time of creation, in seconds
//	hex(8)       00c0ffee                     the same, lower case       of the bytes
//	enum(A,B)    A                            A                          of the list, if that is in byte order
//
// A path is a string that may contain the delimiter; it must be the last
// component. Number is for attributes of type N, which do not sort by their
// text. A width is the number of digits of the largest value that will ever
// occur: [Template.Format] refuses values with more digits.
//
// Times are read in any zone and written in UTC, truncated to the precision of
// the type. So one value can provide both the day of a partition key and the
// time of a sort key: DAY#{at:date} and {at:millis}. The value of an epoch may
// also be given as a number.
//
// A [time.Time] that is a key attribute of its own, not a part of a template, does not sort: its
// text drops trailing zeros, so 10:00:00.5Z comes before 10:00:00Z. Store a [Timestamp] instead,
// whose text has nine digits after the second, or a number of seconds, with the option unixtime
// in the tag of the field. Package sortkey refuses to put a time.Time in a key.
//
// With :desc, the types from int to epochms except number sort in reverse: each
// digit d is written as 9-d, so 42 as int(5) is 99957. One key can combine both
// directions: TEAM#{score:int(6):desc}#{at:time} sorts the highest score first
// and, among equal scores, the earliest.
//
// The guarantee, for every type whose [Type.Ordered] is true: if a sorts before
// b according to [Type.Compare], then the bytes of a's part sort before those
// of b's part. A key of several components sorts by its components when all but
// the last have a fixed width. After a component of variable length, the
// delimiter affects the order: with the delimiter #, "a!" sorts before "a",
// because ! is less than #.
package keys
