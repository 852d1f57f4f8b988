package placement

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// mostHot limits the hot ranges in the text.
const mostHot = 5

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer, paint terminal.Paint) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", paint.Strong(r.Model))
	fmt.Fprintf(&b, "A simulation of %s with %s of each range. Nothing was measured.\n",
		text.Count(len(r.Nodes), "node"), text.Count(r.Replicas, "replica"))
	fmt.Fprintf(
		&b, "A range splits above %s or at %s a second.\n", text.Size(r.RangeBytes),
		text.Amount(text.Figure(r.RangeRequests), "request"),
	)
	fmt.Fprintf(&b, "Declared: %s and %s a second.\n", text.Amount(text.Figure(r.Reads), "read"),
		text.Amount(text.Figure(r.Writes), "write"))
	if r.Scale < 1 {
		fmt.Fprintln(
			&b,
			paint.Warn(fmt.Sprintf(
				"A sample: %s of the declared items were generated; figures are for all of them.",
				text.Percent(max(r.Scale, 0)),
			)),
		)
	}
	if r.Unplaced > 0 {
		fmt.Fprintln(
			&b,
			paint.Warn(fmt.Sprintf(
				"Entities without items have %s of these requests; they are left out.", text.Figure(r.Unplaced),
			)),
		)
	}

	fmt.Fprintf(&b, "\n%s\n", paint.Strong("tables"))
	rows := [][]string{{"", "rows", "size", "requests/s", "ranges"}}
	for i := range r.Spaces {
		s := &r.Spaces[i]
		rows = append(
			rows,
			[]string{
				s.Name(), text.Thousands(int64(s.Rows + 0.5)), text.Size(s.Bytes), text.Figure(s.Requests),
				text.Thousands(s.Ranges),
			},
		)
	}
	table(&b, rows)

	fmt.Fprintf(&b, "\n%s\n", paint.Strong("ranges"))
	g := &r.Ranges
	fmt.Fprintf(
		&b, "  %-10s%s; %s at the start, %s by size, %s by load\n", "number", text.Thousands(g.Count),
		text.Count(g.SplitFirst, "split"), text.Thousands(g.SplitBySize), text.Thousands(g.SplitByLoad),
	)
	if g.Hottest == nil {
		fmt.Fprintf(&b, "  %-10sno requests: the model declares no rates for entities with items\n", "load")
	} else {
		fmt.Fprintf(&b, "  %-10s%s\n", "hottest", load(g.Hottest.Requests, g.Mean))
		fmt.Fprintf(&b, "  %-10s%s\n", "", g.Hottest.describe())
	}
	if p := r.Partition; p != nil {
		s := Space{Table: p.Table, Index: p.Index}
		fmt.Fprintf(&b, "\n%s\n", paint.Strong("hottest partition"))
		fmt.Fprintf(&b, "  %s of %s: %s a second, %s, in %s\n", p.Key, s.Name(),
			text.Amount(text.Figure(p.Requests), "request"), text.Count(int64(max(1, p.Rows+0.5)), "row"),
			text.Count(p.Ranges, "range"))
	}

	fmt.Fprintf(&b, "\n%s\n", paint.Strong("nodes"))
	rows = [][]string{{"", "requests/s", "of the mean", "leases", "replicas", "size"}}
	mean, hottest := r.Mean(), 0.0
	for i, n := range r.Nodes {
		hottest = max(hottest, n.Requests)
		rows = append(rows, []string{
			strconv.Itoa(i + 1), text.Figure(n.Requests), times(n.Requests, mean),
			text.Thousands(n.Leases), text.Thousands(n.Replicas), text.Size(n.Bytes),
		})
	}
	table(&b, rows)
	fmt.Fprintf(
		&b, "  moved for load: %s and %s\n", text.Count(r.LeasesMoved, "lease"), text.Count(r.ReplicasMoved, "replica"),
	)

	if len(g.Hot) > 0 {
		fmt.Fprintf(&b, "\n%s\n", paint.Warn("hot ranges that cannot be split"))
		for i := range g.Hot[:min(len(g.Hot), mostHot)] {
			h := &g.Hot[i]
			fmt.Fprintf(
				&b, "  %s a second on node %d, %s\n", text.Amount(text.Figure(h.Requests), "request"), h.Node,
				times(h.Requests, r.RangeRequests)+" the limit",
			)
			fmt.Fprintf(&b, "    %s\n", h.describe())
		}
		if more := len(g.Hot) - mostHot; more > 0 {
			fmt.Fprintf(&b, "  and %s more\n", text.Thousands(more))
		}
		fmt.Fprintf(
			&b, "  A range splits by load only at a key that leaves each side at most %s of it.\n",
			text.Percent((1+imbalance)/2),
		)
		fmt.Fprintln(&b, "  One node serves all requests of a range, so more nodes do not help: spread the key.")
	}
	if g.Large > 0 {
		fmt.Fprintf(&b, "\n%s\n", paint.Warn(text.Count(g.Large, "range")+" above the size limit cannot be split"))
	}
	sum := fmt.Sprintf(
		"%s, %s hot; the hottest node has %s", text.Count(g.Count, "range"), text.Thousands(len(g.Hot)),
		load(hottest, mean),
	)
	if len(g.Hot) > 0 {
		sum = paint.Bad(sum)
	} else {
		sum = paint.Good(sum)
	}
	fmt.Fprintf(&b, "\n%s\n", sum)
	_, err := w.Write(b.Bytes())
	return err
}

// load describes a load beside the mean.
func load(requests, mean float64) string {
	s := text.Amount(text.Figure(requests), "request") + " a second"
	if mean > 0 {
		s += ", " + times(requests, mean) + " the mean of " + text.Figure(mean)
	}
	return s
}

func times(a, b float64) string {
	if b == 0 {
		return "0 ×"
	}
	return strconv.FormatFloat(a/b, 'f', 2, 64) + " ×"
}

// describe says what a range's requests are for.
func (r *Range) describe() string {
	s := Space{Table: r.Table, Index: r.Index}
	if r.Share < 0.1 {
		return fmt.Sprintf("many rows of %s; the hottest has %s of them", s.Name(), text.Percent(r.Share))
	}
	if r.Place == "row" {
		return fmt.Sprintf("%s of them for one row of partition %s of %s", text.Percent(r.Share), r.Partition, s.Name())
	}
	return fmt.Sprintf(
		"%s of them for the %s of partition %s of %s, where new rows arrive", text.Percent(r.Share), r.Place,
		r.Partition, s.Name(),
	)
}

// table writes rows in columns: the first to the left, the others to the right.
func table(b *bytes.Buffer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], terminal.Width(cell))
		}
	}
	for _, row := range rows {
		line := "  " + terminal.Pad(row[0], width[0])
		for i, cell := range row[1:] {
			line += "  " + terminal.Pad("", width[i+1]-terminal.Width(cell)) + cell
		}
		fmt.Fprintln(b, line)
	}
}
