// Package mask replaces what is personal in production data by stand-ins, so that the data can be used
// in tests. [Parse] reads a file of rules; [Rules.Item] masks an item.
//
// A value has the same stand-in wherever it stands: in every item and table, in the keys of indexes, and
// as a component of composite keys, whose other parts stay. So item collections stay together, and the
// order by components that are not masked stays. The seed of the rules determines the stand-ins: without
// it nobody can find out which value a stand-in stands for by masking guesses. What no rule covers is
// listed by [Rules.Uncovered], and refused by [Rules.Covered].
package mask
