// Package mask replaces personal values in production data by stand-ins, so that the data can be used in tests.
// [Parse] reads a file of rules; [Rules.Item] masks an item.
//
// A value has the same stand-in everywhere: in every item and table, in the keys of indexes, and as a component of
// composite keys, whose other parts do not change. So item collections stay together, and components that are not
// masked keep their order. The seed of the rules determines the stand-ins. Keep the seed secret: whoever knows it can
// mask a guessed value and compare the result with a stand-in. [Rules.Uncovered] lists the places of values that no
// rule covers, and [Rules.Covered] returns an error for an item with such a value.
package mask
