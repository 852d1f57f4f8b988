// Package layer drives one table at every height of the stack: a bare engine,
// store, table, api, HTTP and the AWS SDK, each with the same calls.
//
// A [Data] is a table full of items with the handles that the layers need. A
// [Layer] prepares a call once, outside of what is measured: whatever a user of
// that layer would have ready is ready, and whatever the layer is there to do,
// such as parsing at api or making an input for the SDK, is done each time. All
// layers read the bytes of every value they are given, so that none is fast
// because it looks at nothing.
package layer
