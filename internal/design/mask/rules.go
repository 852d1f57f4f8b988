package mask

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// Rules mask items. They are safe for concurrent use.
type Rules struct {
	model *model.Model // nil if the file names none
	mint  mint
	list  []rule

	mu        sync.Mutex
	keys      map[string][]string // key attributes by table; set by Keys
	uncovered map[string]bool
	more      bool // there are more than maxUncovered uncovered places
}

// maxUncovered limits the number of listed places. Without a limit, the list would grow with every item if the names
// of map members are data, such as user ids.
const maxUncovered = 1000

// A rule says which values to mask, and how.
type rule struct {
	entity string   // name of an entity, or "" for all
	path   string   // a field, or an attribute followed by the names of members, each after a dot
	want   []string // the names in path
	how    method
	of     string // the kind of a fake: name, email or phone
	names  method // how to mask member names that are in no rule; "" reports them as uncovered
}

// A file is the structure of a rules file.
type file struct {
	Model string `yaml:"model"`
	Seed  string `yaml:"seed"`
	Rules []struct {
		Entity string `yaml:"entity"`
		Path   string `yaml:"path"`
		As     string `yaml:"as"`
		Names  string `yaml:"names"`
	} `yaml:"rules"`
}

// Parse reads a rules file. If the file names a model, Parse calls load to get it. Without a model, Parse does not
// know the components of composite keys, so rules can only mask whole attributes.
func Parse(src []byte, load func(name string) (*model.Model, error)) (*Rules, error) {
	r, err := parseRules(src, load)
	return r, advice.Bound(err)
}

func parseRules(src []byte, load func(name string) (*model.Model, error)) (*Rules, error) {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	var f file
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}

	switch {
	case len(f.Rules) == 0:
		return nil, errors.New("no rules: write rules: [{entity: Customer, path: email, as: fake email}]")
	case f.Seed == "":
		return nil, errors.New("no seed: write seed: with a text that only you know; it determines the stand-ins")
	}

	r := &Rules{mint: mint{[]byte(f.Seed)}, uncovered: map[string]bool{}}
	if f.Model != "" {
		var err error
		if r.model, err = load(f.Model); err != nil {
			return nil, err
		}
	}

	var errs []error
	for i, one := range f.Rules {
		how, of, _ := strings.Cut(strings.TrimSpace(one.As), " ")
		rule := rule{
			entity: one.Entity, path: one.Path, want: strings.Split(one.Path, "."),
			how: method(how), of: strings.TrimSpace(of), names: method(one.Names),
		}
		if err := r.check(rule); err != nil {
			errs = append(errs, fmt.Errorf("rule %d (%s): %w", i+1, cmp.Or(one.Path, "without a path"), err))
		}
		r.list = append(r.list, rule)
	}
	return r, errors.Join(errs...)
}

// check checks a rule.
func (r *Rules) check(one rule) error {
	switch {
	case one.path == "":
		return errors.New("it has no path: name a field or an attribute")
	case !slices.Contains(methods, string(one.how)):
		return fmt.Errorf("as is one of %s, not %q", text.Join(methods, "and"), one.how)
	case one.how == fake && !slices.Contains(fakes, one.of):
		return fmt.Errorf("write what to fake, as in fake email: %s", text.Join(fakes, "or"))
	case one.how != fake && one.of != "":
		return fmt.Errorf("%s takes no %q", one.how, one.of)
	case one.names != "" && !slices.Contains([]method{hash, shape, keep}, one.names):
		return fmt.Errorf("names is hash, shape or keep, not %q", one.names)
	case one.entity != "" && r.model == nil:
		return errors.New("an entity needs a model: write model: shop.yaml")
	case one.entity != "" && r.model.Entity(one.entity) == nil:
		return fmt.Errorf("the model has no entity %s", one.entity)
	}
	if r.model == nil {
		return nil
	}

	known := false
	for _, e := range r.model.Entities {
		if one.entity != "" && e.Name != one.entity {
			continue
		}
		top, _, _ := strings.Cut(one.path, ".")
		f := e.Field(one.path)
		known = known || f != nil || e.Attribute(top) != nil || !e.Table.IsKey(top)
		if f == nil {
			t := e.Attribute(top)
			if e.Table.IsKey(top) && one.how != keep && t != nil && len(t.Components()) > 0 {
				return fmt.Errorf(
					"%s is a key of %s made of %s: name those", top, e.Name, text.Join(t.Components(), "and"),
				)
			}
			continue
		}
		if err := r.checkField(one, e, f); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("no entity has %s", one.path)
	}
	return nil
}

// checkField checks a rule for a field of an entity.
func (r *Rules) checkField(one rule, e *model.Entity, f *model.Field) error {
	inKey := slices.ContainsFunc(e.Attributes, func(t *model.Template) bool {
		return e.Table.IsKey(t.Name) && slices.Contains(t.Components(), f.Name)
	})
	switch {
	case one.how == keep:
		return nil
	case model.Moment(f.Type) && f.Type.Name != "ulid":
		return fmt.Errorf("%s is a time: keep it, or drop the attribute", f.Name)
	case len(f.Type.Values) > 0 && (inKey || one.how != drop):
		return fmt.Errorf("%s has only the values %s: keep it", f.Name, text.Join(f.Type.Values, "and"))
	case inKey && one.makesEqual():
		return fmt.Errorf(
			"%s is in a key of %s, and %s would make keys equal: use hash or shape", f.Name, e.Name, one.how,
		)
	}
	return nil
}

// makesEqual reports whether a rule can give different values the same stand-in, or drops them.
func (one *rule) makesEqual() bool {
	return one.how == redact || one.how == drop || one.how == fake && one.of != "email" && one.of != "phone"
}

// Keys sets the key attributes of a table. Item keeps their names. Keys returns an error if a rule could make two
// keys equal. It does not check tables of the model, because Parse has already checked the rules for the fields in
// their keys.
func (r *Rules) Keys(table string, names []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		r.keys = map[string][]string{}
	}
	r.keys[table] = names
	if r.model != nil && r.model.Table(table) != nil {
		return nil
	}
	for _, name := range names {
		if one := r.ruleFor("", []string{name}); one != nil && one.makesEqual() {
			return fmt.Errorf(
				"%s is in the key of table %s, and %s would make keys equal: use hash or shape", name, table, one.how,
			)
		}
	}
	return nil
}

// isKey reports whether an attribute is in the key of a table.
func (r *Rules) isKey(table, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.keys[table], name)
}

// ruleFor returns the first rule that covers a path in items of an entity, or nil.
func (r *Rules) ruleFor(entity string, path []string) *rule {
	for i := range r.list {
		one := &r.list[i]
		if one.isFor(entity) && (len(path) == 1 && one.path == path[0] || matches(one.want, path)) {
			return one
		}
	}
	return nil
}

func (one *rule) isFor(entity string) bool { return one.entity == "" || one.entity == entity }

// names reports whether a rule for the entity names the last element of path at the same place of its own path.
func (r *Rules) names(entity string, path []string) bool {
	last := len(path) - 1
	return slices.ContainsFunc(r.list, func(one rule) bool {
		if !one.isFor(entity) {
			return false
		}
		return last == 0 && one.path == path[0] && one.path != "*" ||
			len(one.want) > last && one.want[last] != "*" && matches(one.want[:last+1], path)
	})
}

// matches reports whether a rule with the path want covers the value at path. It does if want equals path or a
// beginning of path. A * in want stands for any name.
func matches(want, path []string) bool {
	if len(want) > len(path) {
		return false
	}
	for i, name := range want {
		if name != "*" && name != path[i] {
			return false
		}
	}
	return true
}

// Suffixes of uncovered places. They name a part that a rule leaves uncovered although it covers the values.
const (
	names    = " (names)"    // names of attributes or of members of a map that no rule has
	booleans = " (Booleans)" // only redact can mask them
)

// Uncovered returns the places that no rule covers in the items masked so far. A place is the name of the entity
// followed by a path. For an item without an entity, the name of the table is first. more is true if there are more
// places than Uncovered returns.
func (r *Rules) Uncovered() (all []string, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.uncovered)), r.more
}
