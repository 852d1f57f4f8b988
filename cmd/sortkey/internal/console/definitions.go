package console

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/sdk"
)

// A definition is what a restore brings back of a table besides its items.
type definition struct {
	arn    *string
	schema *tabledef.Schema
	ttl    string // the attribute with the time to live, or ""
	tags   map[string]string
}

func definitionOf(ctx context.Context, c *dynamodb.Client, name string) (*definition, error) {
	out, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	d := &definition{arn: out.Table.TableArn, tags: map[string]string{}}
	if d.schema, err = tabledef.Of(out.Table); err != nil {
		return nil, err
	}

	ttl, err := c.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	if t := ttl.TimeToLiveDescription; t != nil && t.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
		d.ttl = aws.ToString(t.AttributeName)
	}

	in := &dynamodb.ListTagsOfResourceInput{ResourceArn: d.arn}
	for {
		page, err := c.ListTagsOfResource(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, tag := range page.Tags {
			d.tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
		if in.NextToken = page.NextToken; in.NextToken == nil {
			return d, nil
		}
	}
}

// sameIndexes reports whether two lists have the same indexes, in any order.
func sameIndexes(a, b []tabledef.Index) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x tabledef.Index) bool { return !hasIndex(b, x) })
}

func hasIndex(list []tabledef.Index, x tabledef.Index) bool {
	return slices.ContainsFunc(list, func(y tabledef.Index) bool {
		one, err := json.Marshal(x)
		other, failed := json.Marshal(y)
		return err == nil && failed == nil && string(one) == string(other)
	})
}

// define brings the global indexes, the time to live and the tags of a table back. It reports false, and
// changes nothing, if the table must be made anew: local indexes cannot change.
func (w *rewriter) define(ctx context.Context, name string) (bool, error) {
	client := w.s.opts.Client
	then, err := definitionOf(ctx, sdk.Client(w.then), name)
	if err != nil {
		return false, err
	}
	now, err := definitionOf(ctx, client, name)
	if err != nil {
		return false, err
	}
	if !sameIndexes(then.schema.LocalSecondaryIndexes, now.schema.LocalSecondaryIndexes) {
		return false, nil
	}

	for _, x := range now.schema.GlobalSecondaryIndexes {
		if !hasIndex(then.schema.GlobalSecondaryIndexes, x) {
			err := w.update(ctx, name, nil, types.GlobalSecondaryIndexUpdate{
				Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &x.IndexName},
			})
			if err != nil {
				return false, err
			}
		}
	}
	for _, x := range then.schema.CreateTable(name).GlobalSecondaryIndexes {
		if slices.ContainsFunc(now.schema.GlobalSecondaryIndexes, func(have tabledef.Index) bool {
			return have.IndexName == *x.IndexName && hasIndex(then.schema.GlobalSecondaryIndexes, have)
		}) {
			continue
		}
		err := w.update(ctx, name, then.schema.AttributeDefinitions, types.GlobalSecondaryIndexUpdate{
			Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
				ProvisionedThroughput: x.ProvisionedThroughput,
			},
		})
		if err != nil {
			return false, err
		}
	}
	return true, w.settings(ctx, name, then, now)
}

// update changes one index and waits until it has.
func (w *rewriter) update(
	ctx context.Context, name string, attributes []types.AttributeDefinition, one types.GlobalSecondaryIndexUpdate,
) error {
	client := w.s.opts.Client
	_, err := client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: &name, AttributeDefinitions: attributes,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{one},
	})
	for err == nil {
		var out *dynamodb.DescribeTableOutput
		if out, err = client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name}); err != nil {
			break
		}
		indexes := out.Table.GlobalSecondaryIndexes
		busy := slices.ContainsFunc(indexes, func(x types.GlobalSecondaryIndexDescription) bool {
			return x.IndexStatus != types.IndexStatusActive
		})
		if out.Table.TableStatus == types.TableStatusActive && !busy {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return err
}

// settings brings the time to live and the tags back.
func (w *rewriter) settings(ctx context.Context, name string, then, now *definition) error {
	client := w.s.opts.Client
	live := func(attribute string, enabled bool) error {
		_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               &name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: &enabled},
		})
		return err
	}
	if now.ttl != "" && now.ttl != then.ttl {
		if err := live(now.ttl, false); err != nil {
			return err
		}
	}
	if then.ttl != "" && now.ttl != then.ttl {
		if err := live(then.ttl, true); err != nil {
			return err
		}
	}

	var gone []string
	for key := range now.tags {
		if _, had := then.tags[key]; !had {
			gone = append(gone, key)
		}
	}
	if len(gone) > 0 {
		_, err := client.UntagResource(ctx, &dynamodb.UntagResourceInput{ResourceArn: now.arn, TagKeys: gone})
		if err != nil {
			return err
		}
	}

	var tags []types.Tag
	for key, value := range then.tags {
		if have, ok := now.tags[key]; !ok || have != value {
			tags = append(tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
	}
	if len(tags) == 0 {
		return nil
	}
	_, err := client.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: now.arn, Tags: tags})
	return err
}
