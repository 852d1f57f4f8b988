package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortkey/sortkey/internal/api"
)

var (
	tablesDesc     = prometheus.NewDesc("sortkey_tables", "Tables of the database.", nil, nil)
	tableItemsDesc = prometheus.NewDesc("sortkey_table_items", "Items of a table.", []string{"table"}, nil)
	tableBytesDesc = prometheus.NewDesc(
		"sortkey_table_bytes", "Size of the items of a table, as in DescribeTable.", []string{"table"}, nil,
	)
)

// tables collects metrics of the tables of a database.
type tables struct {
	service *api.Service
	labels  int
}

// Describe implements [prometheus.Collector].
func (*tables) Describe(ch chan<- *prometheus.Desc) {
	ch <- tablesDesc
	ch <- tableItemsDesc
	ch <- tableBytesDesc
}

// Collect implements [prometheus.Collector].
func (t *tables) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, v int64, label ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(v), label...)
	}
	sizes := t.service.TableSizes(context.Background())
	gauge(tablesDesc, int64(len(sizes)))
	var rest api.TableSize
	for i, size := range sizes {
		if i < t.labels {
			gauge(tableItemsDesc, size.Items, size.Name)
			gauge(tableBytesDesc, size.Bytes, size.Name)
			continue
		}
		rest.Items += size.Items
		rest.Bytes += size.Bytes
	}
	if len(sizes) > max(t.labels, 0) {
		gauge(tableItemsDesc, rest.Items, other)
		gauge(tableBytesDesc, rest.Bytes, other)
	}
}
