// Package keys builds and parses composite keys, so that the byte order of
// keys is the order their values should have.
//
// A [Template] such as
//
//	ORDER#{placed:date}#{orderId}
//
// is literal text with components in braces. [Template.Format] makes a key of
// Go values and [Template.Scan] reads them back; [Template.Build] and
// [Template.Match] do it with values in their text form, by name. Every key
// that is built can be parsed, into the same values: a template of which that
// is not true is refused by [Parse], and a value by [Template.Format], with an
// [*Error] that says which component and what to do.
//
// For queries, [Template.Under], [Template.Between] and [Template.BeginsWith]
// give the [Range] of the keys below a level of the template. Package keyexpr
// makes key conditions of ranges for the AWS SDK.
//
// # Templates
//
// A component is {name}, {name:type}, {name:type:desc} or {name:desc}; {{ and
// }} are braces that stand for themselves. The delimiter is whatever text
// stands between components and can differ from place to place. A component
// whose length differs from value to value ends where the text after it
// begins, so its values must not contain that text, and some text must follow
// it unless it is last. Components of fixed width need none: {year:int(4)}{month:int(2)}.
//
// # Types
//
// Values have a text form, what a person types, and one canonical form of it:
// 7 for 007, and for a time one in UTC. A type turns it into a part of a key
// and back.
//
//	type         value                        part of the key            byte order
//	string       Ann                          Ann                        of the text
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
// A path is a string that may contain the delimiter; it is the last component.
// Number is a number as it is, for attributes of type N, whose order does not
// come from their text. Widths are the digits of the largest value there will
// ever be; a value with more is refused.
//
// Times are read in any zone and written in UTC, cut to the precision of the
// type, so that one value can make the day of a partition and the moment of a
// sort key: DAY#{at:date} and {at:millis}. An epoch can be given as a number
// too.
//
// With :desc the types from int to epochms that are not number sort in
// reverse: each digit is written as nine less it, so 42 as int(5) is 99957.
// It works in both directions at once: TEAM#{score:int(6):desc}#{at:time} has
// the highest score first and among equals the earliest.
//
// The guarantee, for every type whose [Type.Ordered] is true: when a comes
// before b, as [Type.Compare] has it, the bytes of a's part come before those
// of b's. In a key of several components it carries over when all components
// but the last have a fixed width. After one of differing length the delimiter
// takes part: with # as delimiter "a!" sorts before "a", because ! is below #.
package keys
