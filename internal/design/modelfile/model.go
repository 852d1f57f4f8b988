package modelfile

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
)

var wordsPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const addName = "begin with a line such as name: task-management"

// nameCodec is the codec of the name of a model.
var nameCodec = checked(func(in value, name string) {
	switch {
	case name == "":
		in.fail(addName, "the model has no name")
	case !wordsPattern.MatchString(name):
		in.fail(
			"such as task-management",
			"the name of a model must be lower-case words joined by hyphens, not %s", clip(name),
		)
	}
}).called("the name")

var seedCodec = scalar(func(in value, s string) uint64 {
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		in.fail("", "the seed must be a whole number from 0 to %d, not %q", uint64(math.MaxUint64), clip(s))
	}
	return seed
})

// beforeModel reports mistakes that reading the members cannot find, because a member is missing or of another kind.
func beforeModel(in value, _ *model.Model) bool {
	if in.node.Kind != yaml.MappingNode {
		return false
	}
	if t := in.get("tables").node; t == nil || empty(t) || t.Kind == yaml.MappingNode && len(t.Content) == 0 {
		in.fail("add tables: {Name: {partition: PK, sort: SK}}", "the model has no tables")
		delete(in.members, "tables")
	}
	if q := in.get("patterns"); q.node != nil && q.nameless() {
		q.fail(
			"write each pattern as an element: - name: orders of a customer",
			"patterns must be a list, not a mapping of names",
		)
		delete(in.members, "patterns")
	}
	return true
}

// nameless reports whether a value is a mapping without a name.
func (in value) nameless() bool {
	n := in.node
	return n != nil && n.Kind == yaml.MappingNode &&
		!slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Value == "name" })
}

func afterModel(in value, m *model.Model) bool {
	in.checkFields()
	in.checkParents()
	lines := map[string]int{}
	for _, q := range m.Patterns {
		if line, ok := lines[q.Name]; ok && q.Name != "" {
			in.failAt(
				q.Pos, "give each its own name", "two patterns are named %s; the first is on line %d", clip(q.Name),
				line,
			)
		}
		lines[q.Name] = q.Pos.Line
	}
	return true
}
