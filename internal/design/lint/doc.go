// Package lint finds hazards in a key design: keys whose byte order is not the
// wanted order, slices that hold more or less than they should, and partitions
// that are too large or too hot. [Run] examines a [dataset.Dataset]: the templates
// of the model and the items built from them. A finding names the place in the
// model, shows keys from the data, and says what to do. Rules about text look
// only at samples, raw items and declared values, because randomly generated
// text proves nothing. Sizes, counts and rates also use generated items, and are
// extrapolated when fewer items were generated than are declared.
//
// A rule is a [rule.Rule] with a principle, such as the order of bytes against the
// one that people mean, in a file of its own. [Rules] lists them.
package lint
