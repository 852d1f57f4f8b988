package transfer

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A tableIdentity distinguishes a table from an earlier or later table of the same name.
type tableIdentity struct {
	ID      string    `json:"id,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

func identityOf(d *types.TableDescription) tableIdentity {
	return tableIdentity{ID: aws.ToString(d.TableId), Created: aws.ToTime(d.CreationDateTime).UTC()}
}

// same reports whether two identities may belong to the same table. Some endpoints do not return all members, so same
// compares only those members that both identities have.
func (t tableIdentity) same(o tableIdentity) bool {
	return (t.ID == "" || o.ID == "" || t.ID == o.ID) &&
		(t.Created.IsZero() || o.Created.IsZero() || t.Created.Equal(o.Created))
}

// checkResumed returns an error if the table of a source is not the one that the interrupted import wrote to, because
// somebody has deleted the table and created it again.
func (im *importer) checkResumed(i int, d *types.TableDescription) error {
	source, table := &im.journal.Sources[i], im.journal.Tables[i]
	now := identityOf(d)
	if table.Written+table.Deleted == 0 || source.Made.same(now) {
		return nil
	}
	return fail(
		ErrRestart, "", "table %s is not the one that the interrupted import wrote to: it was created at %s",
		table.Table, now.Created.Format(time.DateTime),
	)
}
