package metrics

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	tablesDesc     = prometheus.NewDesc("sortkey_tables", "Tables of the database.", nil, nil)
	tableItemsDesc = prometheus.NewDesc("sortkey_table_items", "Items of a table.", []string{"table"}, nil)
	tableBytesDesc = prometheus.NewDesc("sortkey_table_bytes", "Size of the items of a table, as in DescribeTable.", []string{"table"}, nil)
)

// tables collects metrics of tables with requests to the database.
type tables struct {
	service interface {
		Serve(ctx context.Context, target string, body, dst []byte) ([]byte, int)
	}
	labels int
}

// Describe implements [prometheus.Collector].
func (*tables) Describe(ch chan<- *prometheus.Desc) {
	ch <- tablesDesc
	ch <- tableItemsDesc
	ch <- tableBytesDesc
}

// Collect implements [prometheus.Collector].
func (t *tables) Collect(ch chan<- prometheus.Metric) {
	names, err := t.names()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(tablesDesc, err)
		return
	}
	gauge := func(desc *prometheus.Desc, v int64, label ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(v), label...)
	}
	gauge(tablesDesc, int64(len(names)))
	var restItems, restBytes int64
	for i, name := range names {
		items, bytes, err := t.describe(name)
		switch {
		case err != nil: // the table was deleted, or the database is being closed
		case i < t.labels:
			gauge(tableItemsDesc, items, name)
			gauge(tableBytesDesc, bytes, name)
		default:
			restItems += items
			restBytes += bytes
		}
	}
	if len(names) > max(t.labels, 0) {
		gauge(tableItemsDesc, restItems, other)
		gauge(tableBytesDesc, restBytes, other)
	}
}

func (t *tables) names() (names []string, err error) {
	var page struct {
		TableNames             []string
		LastEvaluatedTableName string
	}
	for {
		in := map[string]string{}
		if page.LastEvaluatedTableName != "" {
			in["ExclusiveStartTableName"] = page.LastEvaluatedTableName
		}
		page.TableNames, page.LastEvaluatedTableName = nil, ""
		if err := t.request("ListTables", in, &page); err != nil {
			return nil, err
		}
		names = append(names, page.TableNames...)
		if page.LastEvaluatedTableName == "" {
			return names, nil
		}
	}
}

func (t *tables) describe(name string) (items, bytes int64, err error) {
	var out struct {
		Table struct{ ItemCount, TableSizeBytes int64 }
	}
	err = t.request("DescribeTable", map[string]string{"TableName": name}, &out)
	return out.Table.ItemCount, out.Table.TableSizeBytes, err
}

func (t *tables) request(op string, in map[string]string, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, status := t.service.Serve(context.Background(), "DynamoDB_20120810."+op, body, nil)
	if status != 200 {
		return fmt.Errorf("metrics: %s: %s", op, answer)
	}
	return json.Unmarshal(answer, out)
}
