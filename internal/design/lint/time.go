package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

const stringOrder = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html (dates as ISO 8601 strings, or as epoch numbers)"

var mixedTime = lint{Rule{
	ID: "mixed-time", Title: "Timestamps of mixed zone, precision or format", Severity: model.Warning,
	Help: "Timestamps in text sort by time only if all have the same format: one zone, one precision, large units first. " +
		"10:00:00.120Z sorts before 10:00:00Z, because the point sorts below Z; 09:00:00+02:00 sorts after 08:30:00Z although it is earlier; 05/01/2026 sorts by its day.",
	Example: []string{`"AT#2026-01-05T10:00:00.120Z"`, `"AT#2026-01-05T10:00:00Z"`},
	Cure:    "Give the component a type that writes UTC in one precision, and the same type in all entities that share the key: {at:millis}.",
	Source:  stringOrder,
}, func(l *linter) { l.times(false) }}

var mixedEpoch = lint{Rule{
	ID: "mixed-epoch", Title: "Epoch seconds beside milliseconds", Severity: model.Warning,
	Help: "1767607200 and 1767607200120 are the same moment in seconds and in milliseconds. As numbers, all milliseconds sort after all seconds; as text, they are mixed. " +
		"Either way the rows are not in order of time, and a range finds only one kind. This happens when two programs write the key, one with Date.now() and one with time.time().",
	Example: []string{`"AT#1767607200"`, `"AT#1767607200120"`, `"AT#1767607201"`},
	Cure:    "Choose one unit and convert the rest: {at:epochms} in all templates that share the key.",
	Source:  stringOrder,
}, func(l *linter) { l.times(true) }}

var lostFraction = lint{Rule{
	ID: "lost-fraction", Title: "A time format that drops a fraction", Severity: model.Warning,
	Help: "A type of times writes its own precision and drops the rest: {at:time} and {at:epoch} drop milliseconds, {at:millis} drops microseconds. " +
		"Two moments of one second then have equal text: their rows are not in order of time, and if nothing else in the key differs, one replaces the other. A range that begins at a fraction begins too early. " +
		"Types of periods, such as {at:date}, drop the rest on purpose.",
	Example: []string{`"AT#2026-01-05T10:00:00Z" (of 10:00:00.900)`, `"AT#2026-01-05T10:00:00Z" (of 10:00:00.120)`},
	Cure:    "Use the type with the precision of the data: {at:millis} in text, {at:epochms} as a number, {at:micros} or {at:nanos} for more.",
	Source:  stringOrder,
}, func(l *linter) {
	for _, s := range l.slots {
		for _, p := range s.parts {
			if unit := unitOf(p.Type); p.Name != "" && unit > time.Nanosecond {
				l.fractions(s, p, unit)
			}
		}
	}
}}

// fractions reports a component that drops a fraction of a value.
func (l *linter) fractions(s *slot, p keys.Part, unit time.Duration) {
	all := slices.Clone(l.authored(s.e, p.Name))
	for _, q := range l.queries {
		if c, ok := q.given(p.Name); ok && q.p.Entity == s.e && c.Op != ast.OpBeginsWith {
			for _, arg := range c.Args {
				all = append(all, authoredValue{text: arg})
			}
		}
	}
	// Other keys of the entity may keep the whole time.
	for _, o := range l.slots {
		if o.e == s.e && slices.ContainsFunc(o.places, func(at place) bool { return slices.Contains(s.places, at) }) {
			for _, part := range o.parts {
				if u := unitOf(part.Type); part.Name == p.Name && u > 0 && u < unit {
					return
				}
			}
		}
	}
	var finest time.Duration
	var lost []authoredValue
	for _, w := range all {
		moment, err := time.Parse(time.RFC3339Nano, w.text)
		if err != nil {
			continue
		}
		rest := time.Duration(moment.Nanosecond()) % unit
		if rest == 0 {
			continue
		}
		lost = append(lost, w)
		for _, u := range []time.Duration{time.Millisecond, time.Microsecond, time.Nanosecond} {
			if finest == 0 || u < finest {
				finest = u
			}
			if rest%u == 0 {
				break
			}
		}
	}
	if len(lost) == 0 {
		return
	}
	typ := map[time.Duration]string{time.Millisecond: "millis", time.Microsecond: "micros", time.Nanosecond: "nanos"}[finest]
	if strings.HasPrefix(p.Type.Name, "epoch") && finest == time.Millisecond {
		typ = "epochms"
	}
	if p.Type.Desc {
		typ += ":desc"
	}
	dropped := map[time.Duration]string{time.Second: "the fraction of the second", time.Millisecond: "what is finer than a millisecond", time.Microsecond: "what is finer than a microsecond"}[unit]
	f := s.in(model.Finding{
		Message: fmt.Sprintf("%s in %s of %s drops %s: %s%s", p.Name, s.t.Name, s.view().name(), dropped, quoted(lost[0].text), andMore(len(lost)-1)),
		Keys:    l.keyWith(s, p.Name, lost[0]),
	})
	if s.t.Kind == attr.Number && typ == "millis" {
		typ = "epochms"
	}
	better := source(s.parts, p.Name, "{"+p.Name+":"+typ+"}")
	f.Advice = "use a type with the precision of the values"
	l.propose(
		f,
		proposal{text: fmt.Sprintf("write %s: %q", s.t.Name, better), edits: []edit{writeTemplate(s.e.Name, s.t.Name, better)}},
	)
}

// A shape is the format of a timestamp.
type shape struct {
	format    string // iso, date, slashes, dots, compact, seconds, milliseconds, …
	zone      string // Z, an offset, or none
	precision string
	desc      bool
}

var (
	isoTime   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([T ])(\d{2}:\d{2})(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:?\d{2})?$`)
	isoDate   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	slashDate = regexp.MustCompile(`^\d{1,2}/\d{1,2}/\d{4}( .*)?$`)
	dotDate   = regexp.MustCompile(`^\d{1,2}\.\d{1,2}\.\d{4}( .*)?$`)
	dashDate  = regexp.MustCompile(`^\d{1,2}-\d{1,2}-\d{4}( .*)?$`)
	looseDate = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)
	yearSlash = regexp.MustCompile(`^\d{4}/\d{2}/\d{2}$`)
	compact   = regexp.MustCompile(`^(19|20)\d{6}T\d{6}Z?$`)
	wordDate  = regexp.MustCompile(
		`^([A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2,8} \d{4}( .*)?$|^[A-Z][a-z]{2,8} \d{1,2}, \d{4}( .*)?$`,
	)
	epochText  = regexp.MustCompile(`^1\d{9}$`)
	epochMilli = regexp.MustCompile(`^1\d{12}$`)
)

// unordered describes the formats whose byte order is not chronological.
var unordered = map[string]string{
	"slashes": "day or month first", "dots": "the day first", "dashes": "the day first",
	"words": "with names of months", "unpadded": "without padding",
}

// shapeOf returns the shape of text, and whether text is a timestamp.
func shapeOf(text string) (shape, bool) {
	if m := isoTime.FindStringSubmatch(text); m != nil {
		s := shape{format: "date" + m[1] + "time", zone: m[5], precision: "minutes"}
		if s.zone == "" {
			s.zone = "no zone"
		}
		switch {
		case m[4] != "":
			s.precision = fmt.Sprintf("%d decimals", len(m[4])-1)
		case m[3] != "":
			s.precision = "seconds"
		}
		return s, true
	}
	for format, re := range map[string]*regexp.Regexp{
		"date": isoDate, "slashes": slashDate, "dots": dotDate, "dashes": dashDate, "yearslash": yearSlash,
		"compact": compact,
		"words":   wordDate, "seconds": epochText, "milliseconds": epochMilli,
	} {
		if re.MatchString(text) {
			return shape{format: format}, true
		}
	}
	if looseDate.MatchString(text) {
		return shape{format: "unpadded"}, true
	}
	return shape{}, false
}

// shapeOfType returns the shape that a type writes.
func shapeOfType(t keys.Type) (shape, bool) {
	s := shape{desc: t.Desc}
	switch t.Name {
	case "date", "month", "year":
		s.format = "date"
	case "time":
		s.format, s.zone, s.precision = "dateTtime", "Z", "seconds"
	case "millis":
		s.format, s.zone, s.precision = "dateTtime", "Z", "3 decimals"
	case "micros":
		s.format, s.zone, s.precision = "dateTtime", "Z", "6 decimals"
	case "nanos":
		s.format, s.zone, s.precision = "dateTtime", "Z", "9 decimals"
	case "epoch":
		s.format = "seconds"
	case "epochms":
		s.format = "milliseconds"
	default:
		return s, false
	}
	return s, true
}

// A timestamp is a time in a component of a key, with its shape and an example.
type timestamp struct {
	s     *slot
	name  string
	shape shape
	w     authoredValue
	typed bool
}

// times compares the shapes of the timestamps at each place of a key.
func (l *linter) times(epoch bool) {
	groups := map[string][]timestamp{}
	var order []string
	for _, s := range l.slots {
		for _, p := range s.places {
			for i, part := range s.parts {
				if part.Name == "" {
					continue
				}
				found := l.timestampsOf(s, part)
				if len(found) == 0 {
					continue
				}
				key := fmt.Sprint(
					p.v.t.Name, "\x01", p.v.name(), "\x01", s.t.Name, "\x01", l.partitionShape(s, p), "\x01",
					skeleton(s.parts[:i]),
				)
				if _, ok := groups[key]; !ok {
					order = append(order, key)
				}
				groups[key] = append(groups[key], found...)
			}
		}
	}
	reported := map[*slot]bool{}
	for _, key := range order {
		l.compareTimes(groups[key], epoch, reported)
	}
}

// partitionShape returns the skeleton of the partition key for a slot of a sort
// key, because only rows of one partition are compared.
func (l *linter) partitionShape(s *slot, p place) string {
	if !p.sort {
		return ""
	}
	var b strings.Builder
	for _, a := range p.v.hash {
		if t := s.e.Attribute(a.Name); t != nil && t.Template != nil {
			b.WriteString(skeleton(t.Template.Parts()))
		}
		b.WriteByte(2)
	}
	return b.String()
}

// timestampsOf returns one example of each shape of a component, or nil if its
// values are not timestamps.
func (l *linter) timestampsOf(s *slot, p keys.Part) []timestamp {
	if sh, ok := shapeOfType(p.Type); ok {
		w := timestamp{s: s, name: p.Name, shape: sh, typed: true}
		for _, it := range l.items[s.e] {
			if it.Values.Get(p.Name) != "" {
				w.w = authoredValue{it.Values.Get(p.Name), it}
				break
			}
		}
		return []timestamp{w}
	}
	if !textual(p.Type) && p.Type.Name != "number" && p.Type.Name != "int" || p.Type.Name == "path" {
		return nil
	}
	var all []timestamp
	for _, w := range l.authored(s.e, p.Name) {
		sh, ok := shapeOf(w.text)
		if !ok {
			return nil
		}
		if !slices.ContainsFunc(all, func(o timestamp) bool { return o.shape == sh }) {
			all = append(all, timestamp{s: s, name: p.Name, shape: sh, w: w})
		}
	}
	return all
}

func (l *linter) compareTimes(all []timestamp, epoch bool, reported map[*slot]bool) {
	isEpoch := func(w timestamp) bool { return w.shape.format == "seconds" || w.shape.format == "milliseconds" }
	for i, b := range all {
		if reported[b.s] {
			continue
		}
		if how := unordered[b.shape.format]; how != "" && !epoch && b.s.sortView() != nil {
			reported[b.s] = true
			better := source(b.s.parts, b.name, "{"+b.name+":date}")
			l.propose(b.s.in(model.Finding{
				Message: fmt.Sprintf("%s in %s of %s is a date written %s, so its byte order is not chronological", b.name, b.s.t.Name, b.s.sortView().name(), how),
				Keys:    l.firstTwo(b),
				Advice:  "write the year first, then the month, then the day, all with leading zeros",
			}), proposal{text: fmt.Sprintf("write %s: %q", b.s.t.Name, better), edits: []edit{writeTemplate(b.s.e.Name, b.s.t.Name, better)}})
			continue
		}
		for _, a := range all[:i] {
			why, x, y := differ(a, b)
			if why == "" || epoch != (isEpoch(a) && isEpoch(b)) {
				continue
			}
			reported[b.s] = true
			f := model.Finding{
				Message: fmt.Sprintf("timestamps in %s of %s are written %s: %s and %s", b.s.t.Name, b.s.view().name(), why, x, y),
				Advice:  "write all of them in one format: in UTC, with one precision",
			}
			if b.s.t.Kind == attr.Number {
				f.Advice = fmt.Sprintf("write %s in one unit everywhere: multiply the seconds by 1,000", b.name)
			}
			if a.s != b.s {
				f.Message = fmt.Sprintf(
					"timestamps in %s of %s are written %s: %s in %s, %s in %s", b.s.t.Name, b.s.view().name(), why, x,
					a.s.e.Name, y, b.s.e.Name,
				)
			}
			f.Keys = append(l.keyWith(a.s, a.name, a.w), l.keyWith(b.s, b.name, b.w)...)
			if q := l.needsOrder(b); epoch && q != nil {
				f.Severity = model.Error
				f.Message += fmt.Sprintf("; %q needs the order of time", q.p.Name)
			}
			l.propose(b.s.in(f), l.unified(a, b)...)
			break
		}
	}
}

// needsOrder returns a pattern that depends on the order of a timestamp, or nil.
func (l *linter) needsOrder(w timestamp) *query {
	at := slices.IndexFunc(w.s.parts, func(p keys.Part) bool { return p.Name == w.name })
	for _, q := range l.queries {
		if q.p.Entity == w.s.e && q.v == w.s.sortView() && q.v != nil && q.dependsOn(l, w.s, at, true) {
			return q
		}
	}
	return nil
}

// firstTwo returns up to two keys that contain the timestamp's field.
func (l *linter) firstTwo(w timestamp) []string {
	words := l.authored(w.s.e, w.name)
	if len(words) > 2 {
		words = words[:2]
	}
	var keys []string
	for _, o := range words {
		keys = append(keys, l.keyWith(w.s, w.name, o)...)
	}
	return keys
}

// differ says how two timestamps differ in a way that changes their order, and
// describes each of them. It returns "" if they do not.
func differ(a, b timestamp) (how, first, second string) {
	x, y := a.shape, b.shape
	switch {
	case x == y:
	case x.desc != y.desc:
		names := map[bool]string{false: "ascending", true: "descending"}
		return "in two directions", names[x.desc], names[y.desc]
	case a.typed && b.typed && (x.format == "date" || y.format == "date") && strings.HasPrefix(x.format, "date") &&
		strings.HasPrefix(y.format, "date"):
		// A day is a prefix of its points in time.
	case x.format != y.format:
		return "in different formats", formatName(x), formatName(y)
	case x.zone != y.zone:
		return "in different zones", x.zone, y.zone
	case x.precision != y.precision:
		return "with different precisions", x.precision, y.precision
	}
	return "", "", ""
}

func formatName(s shape) string {
	switch s.format {
	case "dateTtime":
		return "date T time"
	case "date time":
		return "date and time with a space"
	case "seconds", "milliseconds":
		return s.format + " since 1970"
	case "slashes", "dots", "dashes":
		return "date " + unordered[s.format]
	case "yearslash":
		return "date with slashes"
	case "compact":
		return "without separators"
	case "words":
		return "with names of months"
	case "unpadded":
		return "date without padding"
	}
	return s.format
}

// unified returns the proposal to write timestamps in one format.
func (l *linter) unified(a, b timestamp) []proposal {
	typ := "time"
	for _, w := range []timestamp{a, b} {
		switch s := w.shape; {
		case s.format == "milliseconds":
			typ = "epochms"
		case strings.HasSuffix(s.precision, "decimals") && typ == "time":
			typ = "millis"
			if s.precision != "3 decimals" && s.precision != "1 decimals" && s.precision != "2 decimals" {
				typ = "micros"
			}
		}
	}
	if a.shape.format == "date" && b.shape.format != "dateTtime" {
		typ = "date"
	}
	if a.shape.desc || b.shape.desc {
		typ += ":desc"
	}
	if b.s.t.Kind == attr.Number {
		return nil // it is the program that must convert
	}
	fixes := []proposal{unifiedAs(a, b, typ)}
	if typ == "date" {
		fixes = append(fixes, unifiedAs(a, b, "time")) // for times of one day
	}
	return fixes
}

// unifiedAs returns the proposal to write timestamps as a type.
func unifiedAs(a, b timestamp, typ string) proposal {
	var p proposal
	write := func(w timestamp) string {
		better := source(w.s.parts, w.name, "{"+w.name+":"+typ+"}")
		if better != w.s.t.Template.String() {
			p.edits = append(p.edits, writeTemplate(w.s.e.Name, w.s.t.Name, better))
		}
		return better
	}
	p.text = fmt.Sprintf("write %s: %q", b.s.t.Name, write(b))
	if a.s != b.s {
		p.text += fmt.Sprintf(" here, and %q in %s", write(a), a.s.e.Name)
	}
	return p
}
