package ask

import (
	"fmt"
	"strconv"
	"strings"
)

// Form returns the query in the fields of a form: partition, sort, filter, limit and descending.
func Form(field func(name string) string) (Query, error) {
	q := Query{Partition: []string{field("partition")}, Filter: field("filter"), Backwards: field("descending") != ""}
	if sort := strings.TrimSpace(field("sort")); sort != "" {
		q.Sort = []string{sort}
	}
	if limit := field("limit"); limit != "" {
		n, err := strconv.ParseInt(limit, 10, 32)
		if err != nil || n < 0 {
			return q, fmt.Errorf("the limit is a number from 1, not %q", limit)
		}
		q.Limit = int32(n)
	}
	return q, nil
}
