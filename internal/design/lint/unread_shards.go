package lint

import (
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var unreadShards = rule.Rule{
	ID: "unread-shards", Title: "A pattern that reads one shard of several", Severity: model.Note,
	Help: "A shard number in a partition key divides rows that belong together. A pattern that names one shard reads " +
		"only its part of them: the program must send the request for every shard and merge the results. The rule " +
		"applies to fields named shard or bucket, or with the values 0, 1, 2 and so on, if no other pattern reads " +
		"the other shards, and neither the name of the pattern nor its about says that it reads a shard.",
	Example: []string{`read: "FEED#2026-01-05#3"`, `not read: "FEED#2026-01-05#0" to "FEED#2026-01-05#9"`},
	Cure: "Say in the name or in about that the request is sent for each shard. If readers know the shard from what " +
		"they look for, put that into the key instead.",
	Source: guide + "bp-partition-key-sharding.html",

	Query: checkUnreadShards,
}

// shardWords end the names of fields that divide a partition.
var shardWords = []string{"shard", "bucket"}

var aboutShards = text.Pattern(`(?i)\b(shards?|buckets?|partitions?|in parallel|scatter)\b`)

func checkUnreadShards(p *rule.Pass, q *rule.Query) {
	field := shardOf(q)
	if field == "" {
		return
	}

	shards, read := map[string]bool{}, map[string]bool{}
	for _, r := range q.View.Rows {
		if r.Item.Entity == q.Entity {
			shards[r.Item.Values.Get(field)] = true
		}
	}

	var all []*rule.Query // in file order
	for _, o := range p.Queries {
		if c, ok := o.Given(field); !ok || o.View != q.View || o.Entity != q.Entity || c.Op != ast.Equal {
			continue
		}
		for _, part := range o.Parts {
			for _, c := range part.Where {
				if c.Field == field {
					read[c.Args[0]] = true
				}
			}
		}
		if shardOf(o) != "" {
			all = append(all, o)
		}
	}
	if len(shards) < 2 || len(read) > 1 || all[0] != q {
		return
	}

	given, _ := q.Given(field)
	f := q.Finding("%q reads only %s %s of %d: the rows of the others are left out", q.Name, field, given.Args[0],
		len(shards))
	if n := len(all) - 1; n > 0 {
		f.Say("; %s %s too", text.Count(n, "other pattern"), text.Agree(n, "does", "do"))
	}
	if part, ok := q.Partition(); ok {
		f.Keys = append(f.Keys, "read: "+q.View.PartitionKey(q.View.Rows[part.From].Item))
	}

	for _, r := range q.View.Rows {
		if r.Item.Entity == q.Entity && r.Item.Values.Get(field) != given.Args[0] {
			f.Keys = append(f.Keys, "not read: "+q.View.PartitionKey(r.Item))
			break
		}
	}

	f.Advise("send the request for each %s and merge the results, and say so in about", field)
	p.Report(f)
}

// shardOf returns the field by which a query reads one shard without saying so,
// or "".
func shardOf(q *rule.Query) (field string) {
	if q.Operation != "Query" || !q.Ran() || q.Entity == nil || aboutShards().MatchString(q.Name+" "+q.About) {
		return ""
	}
	inHash, inSort := q.Entity.ComponentsOf(q.View.Hash), q.Entity.ComponentsOf(q.View.Sort)
	for _, c := range q.Where {
		switch {
		case c.Op != ast.Equal:
		case inHash[c.Field] && isShard(q.Entity, c.Field):
			field = c.Field
		case inSort[c.Field] && !inHash[c.Field]:
			return "" // readers may know the shard from it
		}
	}
	return field
}

// isShard reports whether a field only divides what belongs together: by its
// name, or because its values are listed as 0, 1, 2 and so on.
func isShard(e *model.Entity, field string) bool {
	if slices.Contains(shardWords, lastWord(field)) {
		return true
	}
	f := e.Field(field)
	if f == nil || len(f.Values) < 3 {
		return false
	}
	for i, value := range f.Values {
		if n, err := strconv.Atoi(value); err != nil || n != i {
			return false
		}
	}
	return true
}
