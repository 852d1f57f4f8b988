// Package lint finds hazards in a key design: keys that sort in another order than people expect, queries that read
// more or less than they should, and partitions that are too large or too hot. [Run] examines a [dataset.Dataset]:
// the templates of the model and the items built from them. A finding names the place in the model, shows keys from
// the data, and says what to do.
//
// Rules about text look only at text that people wrote: samples, raw items and declared values. Randomly generated
// text proves nothing. Rules about sizes, counts and rates also use generated items. If the dataset has fewer items
// than the model declares, these rules extrapolate.
//
// Each [Rule] is about one principle and has its own file. [Rules] lists them.
package lint
