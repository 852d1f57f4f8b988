// Package lint finds hazards in a key design: keys that sort in another order than people expect, queries that read
// more or less than they should, and partitions that are too large or too hot. [Run] examines a [dataset.Dataset]:
// the templates of the model and the items built from them. A finding names the place in the model, shows keys from
// the data, and says what to do.
//
// Rules about text look only at samples, raw items and declared values, because randomly generated text proves
// nothing. Rules about sizes, counts and rates also use generated items. If fewer items were generated than the model
// declares, they extrapolate.
//
// Each [Rule] is about one principle and has its own file. [Rules] lists them.
package lint
