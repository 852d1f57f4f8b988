package modelfile

import (
	"reflect"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var lifeText = text.Pattern(`^([0-9]{1,6})([wdhms])$`)

// lifeCodec is the codec of the life of an item.
var lifeCodec = codec{
	read: scalar(func(in value, s string) time.Duration {
		m := lifeText().FindStringSubmatch(s)
		if m == nil || m[1] == "0" {
			in.fail("write a number with w, d, h, m or s, as in 30d", "%s must be a time, not %s", in.what, clip(s))
			return 0
		}
		n, _ := strconv.Atoi(m[1])
		for _, u := range model.LifeUnits {
			if u.Name == m[2] {
				return time.Duration(n) * u.Duration
			}
		}
		return 0
	}).read,
	write: func(v reflect.Value) *yaml.Node {
		return textNode(model.LifeText(*as[time.Duration](v)))
	},
}
