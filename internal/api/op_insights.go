package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of this file: quirks, findings DDB-TABLE-089 to 095, 137, 341 and 343;
// API_ListContributorInsights.

// Modes of contributor insights. insightsAll is the default.
const (
	insightsAll       = "ACCESSED_AND_THROTTLED_KEYS"
	insightsThrottled = "THROTTLED_KEYS"
)

const maxInsights = 100

// insightsIndex returns an error if index is not nil and the table has no global index of that name.
func insightsIndex(def *table.Definition, index *string) error {
	if index != nil && globalIndex(def, *index) == nil {
		return wire.NewError(
			"ResourceNotFoundException",
			"Requested resource not found: Index: "+*index+" not found for table: "+def.Name,
		)
	}
	return nil
}

func globalIndex(def *table.Definition, name string) *table.IndexDefinition {
	return indexNamed(def.Global, name)
}

// indexNamed returns the index with a name, or nil.
func indexNamed(list []table.IndexDefinition, name string) *table.IndexDefinition {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// notActive returns the error for a table or an index that is CREATING or DELETING: ack-api-quirks, DDB-TABLE-116 and
// 442.
func notActive(status string) error {
	return wire.Validation("Table or Index is not in a valid state to update Key Access Insights: " + status +
		" must be ACTIVE to enable ContributorInsights.")
}

// enabled returns the status of a setting that is on or off.
func enabled(on bool) *string {
	if on {
		return new("ENABLED")
	}
	return new("DISABLED")
}

// updateContributorInsights enables or disables contributor insights of a table or a global index. It only stores the
// setting; Sortkey does not count keys.
func (s *Service) updateContributorInsights(
	ctx context.Context, in *wire.UpdateContributorInsightsInput,
) (*wire.UpdateContributorInsightsOutput, error) {
	name, err := s.tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	out := &wire.UpdateContributorInsightsOutput{TableName: new(name), IndexName: in.IndexName}
	_, err = s.db.Alter(ctx, name, func(def *table.Definition) error {
		if err := insightsIndex(def, in.IndexName); err != nil {
			return err
		}
		index := value(in.IndexName)
		if index != "" && globalIndex(def, index).Status(s.now()) == table.StatusCreating {
			return notActive("IndexStatus")
		}
		old := def.Insights[index]
		next := table.Insights{
			Enabled: *in.ContributorInsightsAction == "ENABLE", Mode: old.Mode, Changed: s.now(), Begun: old.Begun,
		}
		if next.Enabled {
			next.Mode = cmp.Or(value(in.ContributorInsightsMode), insightsAll)
			if !old.Enabled {
				next.Begun = next.Changed
			}
		}
		switch {
		case next.Enabled == old.Enabled && next.Mode == old.Mode:
			out.ContributorInsightsStatus = enabled(old.Enabled)
			return nil
		case next.Enabled:
			out.ContributorInsightsStatus = new("ENABLING")
		default:
			out.ContributorInsightsStatus = new("DISABLING")
		}

		out.ContributorInsightsMode = &next.Mode
		if def.Insights == nil {
			def.Insights = map[string]table.Insights{}
		}
		def.Insights[index] = next
		return nil
	})
	if isKind(err, table.InUse) {
		return nil, notActive("TableStatus")
	}
	return out, err
}

// describeContributorInsights describes contributor insights of a table or a
// global index.
func (s *Service) describeContributorInsights(
	ctx context.Context, in *wire.DescribeContributorInsightsInput,
) (*wire.DescribeContributorInsightsOutput, error) {
	t, err := s.described(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	def := t.Definition()
	if err := insightsIndex(def, in.IndexName); err != nil {
		return nil, err
	}
	x, known := def.Insights[value(in.IndexName)]
	out := &wire.DescribeContributorInsightsOutput{
		TableName: new(def.Name), IndexName: in.IndexName, ContributorInsightsStatus: enabled(x.Enabled),
		LastUpdateDateTime: seconds(x.Changed),
	}
	if known {
		out.ContributorInsightsMode = &x.Mode
	}
	if x.Enabled {
		out.ContributorInsightsRuleList = insightsRules(def, value(in.IndexName), x)
	}
	return out, nil
}

// insightsRules returns the names of the CloudWatch rules. A rule counts accessed (C) or throttled (T) partition keys
// (PK) or items (SK). Only a table or index with a sort key has rules for items, and the mode insightsThrottled has
// only rules for throttled keys. Source: DG/contributorinsights_HowItWorks.html.
func insightsRules(def *table.Definition, index string, x table.Insights) (rules []string) {
	key, resource := def.Key, def.Name
	if ix := globalIndex(def, index); ix != nil {
		key, resource = ix.Key, def.Name+"-"+index
	}
	begun := x.Begun
	if begun.IsZero() { // of an older database
		begun = x.Changed
	}
	parts := []string{"PK"}
	if slices.ContainsFunc(key, func(e table.KeyElement) bool { return !e.Hash }) {
		parts = append(parts, "SK")
	}
	for _, part := range parts {
		for _, kind := range []string{"C", "T"} {
			if kind == "T" || x.Mode != insightsThrottled {
				rules = append(
					rules,
					fmt.Sprintf("DynamoDBContributorInsights-%s%s-%s-%d", part, kind, resource, begun.UnixMilli()),
				)
			}
		}
	}

	return rules
}

// listContributorInsights lists the tables and the global indexes with contributor
// insights, a table before its indexes.
func (s *Service) listContributorInsights(
	ctx context.Context, in *wire.ListContributorInsightsInput,
) (*wire.ListContributorInsightsOutput, error) {
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	names, err := s.db.Names(ctx)
	if err != nil {
		return nil, err
	}
	if in.TableName != nil {
		t, err := s.described(ctx, in.TableName)
		if err != nil {
			return nil, err
		}
		names = []string{t.Definition().Name}
	}

	// The token is the last entry of the previous page, as table/index.
	fromTable, fromIndex, _ := strings.Cut(value(in.NextToken), "/")
	list := []wire.ContributorInsightsSummary{}
	for _, name := range names {
		t, err := s.db.Describe(ctx, name)
		if err != nil || name < fromTable {
			continue // deleted meanwhile, or listed on an earlier page
		}
		insights := t.Definition().Insights
		for _, index := range slices.Sorted(maps.Keys(insights)) {
			x := insights[index]
			if !x.Enabled || in.NextToken != nil && name == fromTable && index <= fromIndex {
				continue
			}
			summary := wire.ContributorInsightsSummary{
				TableName: new(name), ContributorInsightsStatus: enabled(x.Enabled), ContributorInsightsMode: &x.Mode,
			}
			if index != "" {
				summary.IndexName = new(index)
			}
			list = append(list, summary)
		}
	}

	limit := maxInsights
	if n := int(value(in.MaxResults)); n > 0 {
		limit = n
	}
	out := &wire.ListContributorInsightsOutput{ContributorInsightsSummaries: list}
	if len(list) > limit {
		last := &list[limit-1]
		out.ContributorInsightsSummaries = list[:limit]
		out.NextToken = new(*last.TableName + "/" + value(last.IndexName))
	}
	return out, nil
}
