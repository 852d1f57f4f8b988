package api_test

import (
	"strings"
	"testing"

	faults "github.com/sortkey/sortkey/internal/fault"
)

// Source: DG/throttling-diagnosing.html.
func TestThrottlingReasons(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.svc.Faults().Add(&faults.Rule{Operation: "PutItem", Effect: faults.Effect{Code: "ThrottlingException"}})
	out, status := e.serve("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"x"}}}`)
	for _, want := range []string{"TableWriteProvisionedThroughputExceeded", arnH} {
		if status != 400 || !strings.Contains(out, want) {
			t.Errorf("%d %s, want %s", status, out, want)
		}
	}
}
