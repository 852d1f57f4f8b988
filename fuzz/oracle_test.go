package fuzz_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

var (
	// On disk and on PostgreSQL, TestOracle sends a tenth of these requests.
	oracleRequests = flag.Int("requests", 0, "requests of TestRequests, and of TestOracle in memory")
	oracleAgainst  = flag.String("against", "", "NAME=URL of another implementation for TestOracle, as a control")
)

// An oracle sends the messages of a generator to a database and compares each answer with
// the prediction.
type oracle struct {
	*generator
	engine *engine
	sent   []message
	tally  tally
}

// A tally counts what an oracle has seen.
type tally struct{ answered, refused, unanswered, done, kills, tables, mismatches int }

// A mismatch is an answer that the model does not predict.
type mismatch struct {
	message    message
	want       string
	got        string
	difference string // where they differ, and how
}

func (b *mismatch) String() string {
	want, got, difference := abridge([]byte(b.want)), abridge([]byte(b.got)), abridge([]byte(b.difference))
	return fmt.Sprintf("  request     %s %s\n  prediction  %s\n  answer      %s\n  difference  %s\n",
		b.message.op, abridge(b.message.body), want, got, difference)
}

func newOracle(seed int64, e *engine) *oracle {
	g := newGenerator(seed, newService(e.counts))
	g.expires = e.sweep != nil
	return &oracle{generator: g, engine: e}
}

// run sends n messages and returns the first mismatch, or nil. If the database can be killed, run kills it now and
// then.
func (o *oracle) run(n int, random *rand.Rand) *mismatch {
	const look = 4000                // messages between comparisons of the whole database
	between := max(1, min(400, n/2)) // bound for messages between a restart and the next kill
	next, dying := -1, false
	if o.engine.kill != nil {
		next = random.IntN(between)
	}
	for i := range n {
		if i == next {
			o.engine.kill(time.Duration(random.Int64N(int64(20 * time.Millisecond))))
			dying = true
		}
		m := o.message()
		o.sent = append(o.sent, m)
		if got, answered := o.engine.answer(m); answered {
			if bad := o.check(m, got); bad != nil {
				return bad
			}
		} else {
			if !dying {
				return &mismatch{m, "", "", "no answer"}
			}
			o.tally.kills++
			o.tally.unanswered++
			o.engine.restart()
			if bad := o.recover(m); bad != nil {
				return bad
			}
			next, dying = i+1+random.IntN(between), false
		}
		if dying || (i+1)%look != 0 {
			continue
		}
		if bad := o.audit(m); bad != nil {
			return bad
		}
	}
	if dying { // the kill interrupted no request, or is still to come
		o.engine.restart()
		o.tally.kills++
	}
	return o.recount(o.sent[len(o.sent)-1])
}

// audit compares the whole database with the model. It blames the message after for a difference.
func (o *oracle) audit(after message) *mismatch {
	if difference := o.engine.audit(o.service); difference != "" {
		return &mismatch{after, "", "", "after this request, " + difference}
	}
	return nil
}

// recount retries audit for up to ten seconds, because after a kill the database counts items in the background.
func (o *oracle) recount(after message) *mismatch {
	bad := o.audit(after)
	for end := time.Now().Add(10 * time.Second); bad != nil && time.Now().Before(end); bad = o.audit(after) {
		time.Sleep(20 * time.Millisecond)
	}
	return bad
}

// check applies a message to the model and compares the answer with the prediction.
func (o *oracle) check(m message, got reply) *mismatch {
	want := m.step(o.service)
	if o.tally.answered++; want.fault != "" {
		o.tally.refused++
	}
	if m.administers() {
		o.tally.tables++
	}
	return want.compare(m, got)
}

// recover finds out whether the database executed the last request, which got no answer. It compares the whole
// database with the model before and after that request, and continues with the model that matches.
func (o *oracle) recover(m message) *mismatch {
	counts := o.service.counts
	o.service.counts = false
	after := o.service.clone()
	m.step(after)
	if first := o.engine.audit(o.service); first != "" {
		if m.separate { // each of its items may have changed or not
			o.adopt(m, after)
			after = o.service
		}
		if difference := o.engine.audit(after); difference != "" {
			difference = fmt.Sprintf("after a kill during this request, without it %s; with it %s", first, difference)
			return &mismatch{m, "", "", difference}
		}
		o.tally.done++
		o.service = after
	}
	o.service.counts = counts
	return o.recount(m)
}

// adopt updates the model with those items of a request that the database has as in after.
func (o *oracle) adopt(m message, after *service) {
	for name, keys := range m.keys {
		table := o.service.tables[name]
		for _, it := range keys {
			key := it.only(table.keyNames())
			id := table.id(key)
			if o.engine.item(name, key).canon() == after.tables[name].items[id].canon() {
				table.set(id, after.tables[name].items[id])
			}
		}
	}
}

// compare returns a mismatch unless the answer equals the prediction, and nil if it does.
func (p prediction) compare(m message, got reply) *mismatch {
	bad := func(difference string) *mismatch {
		want := p.fault
		if p.body != nil {
			want += " " + string(marshal(p.body))
		}
		return &mismatch{m, strings.TrimSpace(want), fmt.Sprintf("%d %s", got.status, got.body), difference}
	}
	doc, err := decode(got.body)
	if err != nil {
		return bad(noJSON + ": " + err.Error())
	}
	fault, _ := doc["__type"].(string)
	if _, after, ok := strings.Cut(fault, "#"); ok {
		fault = after
	}
	if status := map[bool]int{true: 200, false: 400}[p.fault == ""]; got.status != status || fault != p.fault {
		return bad(fmt.Sprintf("%s instead of %s", cmp.Or(fault, "success"), cmp.Or(p.fault, "success")))
	}
	if p.body == nil && p.fault != "" || p.body == nil && p.some {
		return nil
	}
	for _, name := range []string{"__type", "message", "Message"} {
		if p.fault != "" {
			delete(doc, name)
		}
	}
	want, err := decode(marshal(p.body))
	if err != nil {
		panic(err)
	}
	normalise(doc, p.unordered || m.op == "BatchGetItem")
	normalise(want, p.unordered || m.op == "BatchGetItem")
	if difference := differ("", want, doc, p.some); difference != "" {
		return bad(difference)
	}
	return nil
}

func decode(body []byte) (map[string]any, error) {
	var doc map[string]any
	err := json.Unmarshal(body, &doc)
	if doc == nil {
		doc = map[string]any{}
	}
	return doc, err
}

// normalise changes documents so that equal answers are equal: it sorts the elements of sets, and of lists without a
// defined order, and removes parts of ConsumedCapacity with zero units.
func normalise(doc any, unordered bool) {
	order := func(list []any) {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(string(marshal(a)), string(marshal(b))) })
	}
	switch doc := doc.(type) {
	case map[string]any:
		for name, v := range doc {
			normalise(v, unordered)
			list, isList := v.([]any)
			switch {
			case name == "SS" || name == "NS" || name == "BS":
				order(list)
			case isList && unordered && name != "L" && name != "Keys":
				order(list)
			case isList && (strings.HasSuffix(name, "SecondaryIndexes") || name == "ConsumedCapacity"):
				order(list)
			case name == "Table" || strings.HasSuffix(name, "SecondaryIndexes"):
				if parts, ok := v.(map[string]any); ok && (name != "Table" || parts["CapacityUnits"] != nil) {
					for part, units := range parts {
						if u, ok := units.(map[string]any); ok && u["CapacityUnits"] == 0.0 {
							delete(parts, part)
						}
					}
					if len(parts) == 0 || parts["CapacityUnits"] == 0.0 {
						delete(doc, name)
					}
				} else if v == nil {
					delete(doc, name)
				}
			case name == "Code" && v == "ValidationError":
				delete(doc, "Message") // the model does not predict it
			}
		}
	case []any:
		for _, e := range doc {
			normalise(e, unordered)
		}
	}
}

// abridge returns b without long runs of one byte and without most of its
// middle.
func abridge(b []byte) string {
	const most, run = 2000, 40
	var out strings.Builder
	for i := 0; i < len(b); {
		j := i
		for j < len(b) && b[j] == b[i] {
			j++
		}
		if j-i > run {
			fmt.Fprintf(&out, "%c…×%d", b[i], j-i)
		} else {
			out.Write(b[i:j])
		}
		i = j
	}
	s := out.String()
	if len(s) > most {
		return s[:most/2] + " … " + s[len(s)-most/2:]
	}
	return s
}

// differ returns the first difference between two documents, or "". If some is true, got may have more members.
func differ(at string, want, got any, some bool) string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			break
		}
		names := append(sortedNames(want), sortedNames(got)...)
		slices.SortFunc(names, func(a, b string) int { // units last, because they differ whenever something else does
			const last = "ConsumedCapacity"
			if (a == last) != (b == last) {
				return map[bool]int{true: 1, false: -1}[a == last]
			}
			return strings.Compare(a, b)
		})
		for _, name := range slices.Compact(names) {
			w, has := want[name]
			g, had := got[name]
			in := strings.TrimPrefix(at+"."+name, ".")
			switch {
			case !had && strings.HasSuffix(name, "SecondaryIndexes") && reflect.DeepEqual(w, []any{}):
			case !had:
				return fmt.Sprintf("%s is missing; want %s", in, abridge(marshal(w)))
			case !has && some:
			case !has:
				return fmt.Sprintf("%s is %s; want none", in, abridge(marshal(g)))
			default:
				if d := differ(in, w, g, some); d != "" {
					return d
				}
			}
		}
		return ""
	case []any:
		got, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(want), len(got)) {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), want[i], got[i], some); d != "" {
				return d
			}
		}
		if len(want) != len(got) {
			return fmt.Sprintf("%s has %d elements; want %d", at, len(got), len(want))
		}
		return ""
	}
	if w, g := string(marshal(want)), string(marshal(got)); w != g {
		return fmt.Sprintf("%s is %s; want %s", at, abridge([]byte(g)), abridge([]byte(w)))
	}
	return ""
}

// replay sends messages to a new database. It returns the first mismatch and the index of its message. It returns nil
// if there is none, or if a message does not fit the tables. If audit is true, it finally compares the whole
// database.
func replay(messages []message, fresh func() *engine, audit bool) (*mismatch, int) {
	o := newOracle(0, fresh())
	defer o.engine.close()
	for i, m := range messages {
		if !m.fits(o.service) {
			return nil, 0
		}
		got, answered := o.engine.answer(m)
		if !answered {
			return &mismatch{m, "", "", "no answer"}, i
		}
		if bad := m.step(o.service).compare(m, got); bad != nil {
			return bad, i
		}
	}
	if !audit {
		return nil, 0
	}
	if difference := o.engine.audit(o.service); difference != "" {
		last := len(messages) - 1
		return &mismatch{messages[last], "", "", "after this request, " + difference}, last
	}
	return nil, 0
}

// shorten returns fewer messages that still end in the same kind of mismatch on a new database, and that mismatch. It
// tries for at most timeout. It returns nil if all messages together cause no mismatch on a new database.
func shorten(messages []message, fresh func() *engine, timeout time.Duration) ([]message, *mismatch) {
	bad, at := replay(messages, fresh, true)
	if bad == nil {
		return nil, nil
	}
	messages = messages[:at+1]
	audit := bad.got == ""
	kind := bad.kind()
	if relevant := relevantTo(messages[at], messages); len(relevant) < len(messages) {
		if b, at := replay(relevant, fresh, audit); b != nil && b.kind() == kind {
			messages, bad = relevant[:at+1], b
		}
	}
	end := time.Now().Add(timeout)
	for size := len(messages) / 2; size > 0; size /= 2 {
		for from := len(messages) - 1 - size; from >= -size+1 && time.Now().Before(end); from -= size {
			less := slices.Concat(messages[:max(from, 0)], messages[from+size:])
			if b, at := replay(less, fresh, audit); b != nil && b.kind() == kind {
				messages, bad = less[:at+1], b
				from = min(from, len(messages)-1)
			}
		}
	}
	return messages, bad
}

// relevantTo returns the messages that change tables of the last message, and the last message.
func relevantTo(last message, messages []message) (out []message) {
	for i, m := range messages {
		reads := m.keys == nil && !m.administers() && m.op != sweepNow
		shares := m.op == sweepNow
		for name := range last.numbers {
			shares = shares || bytes.Contains(m.body, marshal(name)) && bytes.Contains(last.body, marshal(name))
		}
		if i == len(messages)-1 || shares && !reads {
			out = append(out, m)
		}
	}
	return out
}

// report describes a mismatch, with the fewest requests found that repeat it.
func (o *oracle) report(bad *mismatch, seed int64, fresh func() *engine) string {
	var out strings.Builder
	fmt.Fprintf(&out, "request %d of seed %d on %s is not answered as predicted:\n", len(o.sent), seed, o.engine.name)
	out.WriteString(bad.String())
	short, again := shorten(o.sent, fresh, 30*time.Second)
	if short == nil {
		out.WriteString("the same requests are answered as predicted on a new database in memory; the last ones:\n")
		short = o.sent[max(0, len(o.sent)-10):]
	} else {
		fmt.Fprintf(&out, "of the %d requests, these %d repeat it in memory:\n", len(o.sent), len(short))
	}
	for _, m := range short {
		body := string(m.body)
		if len(short) > 20 {
			body = abridge(m.body)
		}
		fmt.Fprintf(&out, "  %s %s\n", m.op, body)
	}
	if again != nil && again.difference != bad.difference {
		out.WriteString("with which the last is:\n")
		out.WriteString(again.String())
	}
	return out.String()
}

func (t tally) String() string {
	return fmt.Sprintf("%d requests answered, %d of them refused and %d about tables; "+
		"%d kills, %d requests unanswered of which %d were carried out; %d mismatches",
		t.answered, t.refused, t.tables, t.kills, t.unanswered, t.done, t.mismatches)
}

// TestOracle compares every answer of databases on several engines with the model's predictions. Meanwhile it kills
// and restarts the servers on disk and PostgreSQL.
func TestOracle(t *testing.T) {
	if *oracleAgainst != "" {
		control(t)
		return
	}
	n := cmp.Or(*oracleRequests, proptest.Cases(10_000))
	if proptest.Long() {
		n = max(n, 20_000)
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		try(t, n, 0, memoryEngine)
	})
	t.Run("disk", func(t *testing.T) {
		proptest.NeedLong(t)
		t.Parallel()
		try(t, max(1, n/10), 1<<32, diskEngine)
	})
	t.Run("postgres", func(t *testing.T) {
		proptest.NeedLong(t)
		t.Parallel()
		try(t, max(1, n/10), 2<<32, postgresEngine)
	})
}

// try sends n requests to databases that open returns. Each database gets a history of 20,000 requests, from the next
// seed. The distance from SORTKEY_SEED gives each engine requests of its own.
func try(t *testing.T, n int, distance int64, open func(testing.TB) *engine) {
	const history = 20000
	var total tally
	name := ""
	for seed := proptest.Seed() + distance; n > 0 && !t.Failed(); seed, n = seed+1, n-history {
		o := newOracle(seed, open(t))
		o.tally = total
		bad := o.run(min(n, history), rand.New(rand.NewPCG(uint64(seed), 2)))
		if bad != nil {
			o.tally.mismatches++
			report := o.report(bad, seed, func() *engine { return memoryEngine(t) })
			t.Errorf("%s\nto repeat this, set SORTKEY_SEED=%d", report, seed-distance)
		}
		name = o.engine.name
		o.engine.close()
		total = o.tally
	}
	t.Logf("%s: %s", name, total)
}

// control counts the differences of another implementation by kind. After each difference, it sets the items of the
// request to the state that the model predicts.
func control(t *testing.T) {
	n := cmp.Or(*oracleRequests, proptest.Cases(20000))
	name, url, ok := strings.Cut(*oracleAgainst, "=")
	if !ok {
		t.Fatalf("-against is %q; write NAME=URL", *oracleAgainst)
	}
	o := newOracle(proptest.Seed(), serverEngine(t, name, url))
	o.plain = true
	kinds, examples := map[string]int{}, map[string]*mismatch{}
	for range n {
		m := o.message()
		got, answered := o.engine.answer(m)
		bad := &mismatch{m, "", "", "no answer"}
		if answered {
			bad = o.check(m, got)
		}
		if m.administers() {
			o.engine.settle()
		}
		if bad == nil {
			continue
		}
		o.tally.mismatches++
		kind := bad.kind()
		if kinds[kind]++; examples[kind] == nil {
			examples[kind] = bad
		}
		o.repair(m, got)
	}
	for _, kind := range sortedNames(kinds) {
		bad := examples[kind]
		t.Logf("%6d  %s\n%s", kinds[kind], kind, bad)
	}
	t.Logf("%s: %s, of %d kinds", name, o.tally, len(kinds))
}

const noJSON = "the answer is not JSON"

// kind returns the operation and the member that differs, without values.
func (b *mismatch) kind() string {
	if strings.Contains(b.difference, " instead of ") {
		return b.message.op + " " + b.difference
	}
	if strings.HasPrefix(b.difference, noJSON) {
		return b.message.op + ": " + noJSON
	}
	at, _, _ := strings.Cut(b.difference, " ")
	at, _, _ = strings.Cut(at, "[")
	at, _, _ = strings.Cut(at, ".")
	return b.message.op + " " + at
}

// repair sets the items of a message to the state in the model. If the other implementation refuses a table or index,
// repair removes it from the model.
func (o *oracle) repair(m message, got reply) {
	for name, keys := range m.keys {
		table := o.service.tables[name]
		for _, key := range keys {
			if table == nil {
				continue
			}
			in := map[string]any{"TableName": name, "Key": key.only(table.keyNames()).wire()}
			if it := table.items[table.id(key)]; it == nil {
				_, _ = o.engine.answer(message{op: "DeleteItem"}.with(in))
			} else {
				in = map[string]any{"TableName": name, "Item": it.wire()}
				_, _ = o.engine.answer(message{op: "PutItem"}.with(in))
			}
		}
	}
	var in struct {
		TableName                   string
		GlobalSecondaryIndexUpdates []struct{ Create struct{ IndexName string } }
	}
	if json.Unmarshal(m.body, &in) != nil || got.status == 200 {
		return
	}
	switch table := o.service.tables[in.TableName]; {
	case m.op == "CreateTable":
		delete(o.service.tables, in.TableName)
	case m.op == "UpdateTable" && table != nil:
		table.indexes = slices.DeleteFunc(slices.Clone(table.indexes), func(ix *index) bool {
			updates := in.GlobalSecondaryIndexUpdates
			return len(updates) == 1 && ix.name == updates[0].Create.IndexName
		})
	}
}
