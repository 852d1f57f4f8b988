package api

import (
	"context"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/table"
)

// tagsPerPage is how many tags ListTagsOfResource returns at once.
const tagsPerPage = 10

// empty is the output of operations that have none: an empty body.
type empty struct{}

// AppendJSON appends nothing.
func (empty) AppendJSON(dst []byte) []byte { return dst }

// TagResource sets tags of a table.
func (s *Service) TagResource(ctx context.Context, in *TagResourceInput) error {
	if err := in.Validate(); err != nil {
		return s.typedError(err)
	}
	if len(in.Tags) == 0 {
		return OpTagResource.Invalid("Atleast one Tag needs to be provided as Input.")
	}
	add, err := tagsOf(in.Tags)
	if err != nil {
		return s.typedError(err)
	}
	return s.retag(ctx, value(in.ResourceArn), func(tags map[string]string) error {
		maps.Copy(tags, add)
		if len(tags) > maxTags {
			return Validation("One or more parameter values were invalid: Too many tags: the limit is 50 per resource")
		}
		return nil
	})
}

// UntagResource removes tags of a table.
func (s *Service) UntagResource(ctx context.Context, in *UntagResourceInput) error {
	if err := in.Validate(); err != nil {
		return s.typedError(err)
	}
	if len(in.TagKeys) == 0 {
		return OpUntagResource.Invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	return s.retag(ctx, value(in.ResourceArn), func(tags map[string]string) error {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
		return nil
	})
}

// retag changes the tags of the table with an ARN.
func (s *Service) retag(ctx context.Context, arn string, change func(map[string]string) error) error {
	name, err := s.tagged(arn)
	if err != nil {
		return s.typedError(err)
	}
	_, err = s.db.Alter(ctx, name, func(def *table.Definition) error {
		if def.Tags == nil {
			def.Tags = map[string]string{}
		}
		return change(def.Tags)
	})
	return s.typedError(err)
}

// tagged returns the name of the table that an ARN stands for, which must be
// there.
func (s *Service) tagged(arn string) (string, error) {
	ref, err := ParseARN(arn)
	if err != nil {
		return "", err
	}
	if ref.Index != "" || ref.Stream != "" {
		return "", Validation("Invalid TableArn: Invalid ResourceArn provided as input " + arn)
	}
	if !s.arns.Local(ref) {
		return "", AccessDenied("User is not authorized to perform this operation on resource: " + arn)
	}
	if _, err := s.db.Describe(ref.Name); err != nil {
		return "", ResourceNotFound("Requested resource not found: ResourcArn: " + arn + " not found")
	}
	return ref.Name, nil
}

// ListTagsOfResource lists the tags of a table by key, ten at a time.
func (s *Service) ListTagsOfResource(_ context.Context, in *ListTagsOfResourceInput) (*ListTagsOfResourceOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, s.typedError(err)
	}
	name, err := s.tagged(value(in.ResourceArn))
	if err != nil {
		return nil, s.typedError(err)
	}
	t, err := s.db.Describe(name)
	if err != nil {
		return nil, s.typedError(err)
	}
	tags := t.Definition().Tags
	keys := slices.Sorted(maps.Keys(tags))
	if in.NextToken != nil {
		at, found := slices.BinarySearch(keys, *in.NextToken)
		if found {
			at++
		}
		keys = keys[at:]
	}
	out := &ListTagsOfResourceOutput{Tags: []Tag{}}
	for i, key := range keys {
		if i == tagsPerPage {
			out.NextToken = new(keys[i-1])
			break
		}
		out.Tags = append(out.Tags, Tag{Key: new(key), Value: new(tags[key])})
	}
	return out, nil
}
