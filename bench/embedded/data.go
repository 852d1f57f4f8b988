package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A Reading is an item: five attributes, about 200 bytes. Its key is (sensor, at). The index is by (place, at). In
// every store the index contains only the keys of readings.
type Reading struct {
	Sensor string `dynamodbav:"sensor" json:"sensor"`
	At     string `dynamodbav:"at"     json:"at"`
	Place  string `dynamodbav:"place"  json:"place"`
	Value  int    `dynamodbav:"value"  json:"value"`
	Note   string `dynamodbav:"note"   json:"note"`
}

const (
	perSensor = 2000 // readings of one sensor
	perHour   = 10   // readings of one sensor in an hour
	noteBytes = 150
)

// A dataset is the items that every store begins with, and the changed items that puts write.
type dataset struct {
	items int
	// away says for each item whether the last put has moved it away from its original place.
	away []bool
}

func newDataset(items int) dataset { return dataset{items, make([]bool, items)} }

func (d dataset) sensors() int { return max(d.items/perSensor, 1) }

// at returns the time of the nth reading of each sensor.
func at(n int) string {
	start := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	return start.Add(time.Duration(n) * time.Hour / perHour).Format("2006-01-02T15:04")
}

// reading returns item i. Sensors move from place to place, and no two are at the same place at the same time, so no
// two items have equal keys in the index.
func (d dataset) reading(i int) Reading {
	sensor, n := i%d.sensors(), i/d.sensors()
	return Reading{
		Sensor: fmt.Sprintf("sensor-%03d", sensor), At: at(n), Place: fmt.Sprintf("hall-%03d", (sensor+n)%d.sensors()),
		Value: i, Note: note(uint64(i)),
	}
}

// moved returns item i with another note and at another place. No other item is at that place at the same time.
func (d dataset) moved(i int) Reading {
	r := d.reading(i)
	r.Place, r.Note = "annex"+strings.TrimPrefix(r.Place, "hall"), note(uint64(i+d.items))
	return r
}

// A shift alternates between two forms of an item: at home and away. So every put changes the item and its place in
// the index, even when the same calls are repeated. The readings are made in advance, so that only the store is
// measured.
type shift struct {
	home, away Reading
	isAway     *bool
}

func (d dataset) shift(i int) shift { return shift{d.reading(i), d.moved(i), &d.away[i]} }

// next returns the reading to put next: alternately the one away and the one at home.
func (s shift) next() Reading {
	if *s.isAway = !*s.isAway; *s.isAway {
		return s.away
	}
	return s.home
}

// item returns the number of the item that the kth call of a work uses.
func (d dataset) item(k int) int { return rand.New(rand.NewPCG(uint64(k), 2)).IntN(d.items) }

// partner returns the number of the nth item of a transaction whose first item is i.
func (d dataset) partner(i, n int) int { return (i + n*d.items/together) % d.items }

// note returns text that hardly compresses.
func note(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, noteBytes)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ."[random.IntN(64)]
	}
	return string(b)
}
