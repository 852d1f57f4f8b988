// Package lint looks for the hazards of a key design: keys whose byte order is
// not the order that is wanted, slices that hold more or less than they should,
// and partitions that are too large or too hot.
//
// [Run] looks at a [design.World]: the templates of the model, and the items
// that were made of them. What it finds names the place in the model, shows two
// keys of the data, and says what to do. When the data has no keys that show a
// hazard, keys are made of the declared types, and the finding says "such as".
//
// The rules see text as people write it, so text that was generated at random
// is no evidence of anything; samples, raw items and declared values are. Sizes,
// counts and rates come from generated items too, and are extrapolated when
// fewer items were generated than are declared.
package lint
