package lint

import (
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/internal/ast"
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
	if q.Operation != "Query" || !q.Ran() || q.Entity == nil || aboutShards().MatchString(q.Name+" "+q.About) {
		return
	}
	inHash, inSort := q.Entity.ComponentsOf(q.View.Hash), q.Entity.ComponentsOf(q.View.Sort)
	field := ""
	for _, c := range q.Where {
		switch {
		case c.Op != ast.Equal:
		case inHash[c.Field] && isShard(q.Entity, c.Field):
			field = c.Field
		case inSort[c.Field] && !inHash[c.Field]:
			return // readers may know the shard from it
		}
	}
	if field == "" {
		return
	}
	shards, read := map[string]bool{}, map[string]bool{}
	for _, it := range p.Items(q.Entity) {
		shards[it.Values.Get(field)] = true
	}
	for _, o := range p.Queries {
		if c, ok := o.Given(field); ok && o.View == q.View && o.Entity == q.Entity && c.Op == ast.Equal {
			read[c.Args[0]] = true
		}
	}
	if len(shards) < 2 || len(read) > 1 {
		return
	}
	given, _ := q.Given(field)
	f := q.Finding("%q reads only %s %s of %d: the rows of the others are left out", q.Name, field, given.Args[0],
		len(shards))
	if part, ok := q.Partition(); ok {
		f.Keys = append(f.Keys, "read: "+q.View.PartitionKey(q.View.Rows[part.From].Item))
	}
	for _, it := range p.Items(q.Entity) {
		if it.Values.Get(field) != given.Args[0] && q.View.Holds(it) {
			f.Keys = append(f.Keys, "not read: "+q.View.PartitionKey(it))
			break
		}
	}
	f.Advise("send the request for each %s and merge the results, and say so in about", field)
	p.Report(f)
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
