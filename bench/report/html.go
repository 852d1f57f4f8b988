package report

import (
	"io"

	"github.com/sortkey/sortkey/bench"
)

func HTML(w io.Writer, r *bench.Report) error { return nil }
