package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

var mutableKey = Rule{
	ID: "mutable-key", Title: "A field that changes in the key of a table", Severity: model.Error,
	Help: "The key of an item cannot be updated: UpdateItem refuses it. The item must be deleted and written " +
		"again under another key, in a transaction if readers must never miss it. Build table keys from " +
		"values that never change, and query the others through an index, which the service keeps up to " +
		"date. The rule looks at fields that the model declares mutable, and at those that its patterns " +
		"update.",

	Slot: checkMutable,
}

// checkMutable reports a slot in a table key if its fields can change.
func checkMutable(p *Pass, s *Slot) {
	if !s.InTable() {
		return
	}
	changing := p.Model.ChangingFields(s.Entity)
	names := slices.DeleteFunc(s.Template.Components(), func(name string) bool {
		return !slices.Contains(changing, name)
	})
	if len(names) == 0 {
		return
	}

	v := p.TableView(s.Entity.Table)
	f := s.FindingIn(v, "%s can change and is in %s, a key of %s: an update cannot change a key", names, s.Name, v)
	f.Advise("leave %s out of %s, and add an index that has it for the patterns that give it", names, s.Name)
	p.Report(f)
}
