package sortkey_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keys"
)

// A Song is an item of the examples. The tags are those of the AWS SDK for Go.
type Song struct {
	Artist string `dynamodbav:"artist"`
	Title  string `dynamodbav:"title"`
	Year   int    `dynamodbav:"year"`
	Plays  int    `dynamodbav:"plays,omitempty"`
}

var ctx = context.Background()

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// music opens a database with a table of songs and an index by year.
func music(opts sortkey.Options) (*sortkey.DB, *sortkey.TableOf[Song]) {
	db, err := sortkey.Open(opts)
	check(err)
	check(db.CreateTable(ctx, "Music", "artist / title", sortkey.Global("ByYear", "year:N / title"), sortkey.Stream()))
	songs := sortkey.Table[Song](db, "Music")
	for _, s := range []Song{
		{"Nina", "Feeling Good", 1965, 3}, {"Nina", "Sinnerman", 1965, 9}, {"Nina", "Baltimore", 1978, 0},
		{"Miles", "So What", 1959, 7},
	} {
		check(songs.Put(ctx, s))
	}
	return db, songs
}

// A database in memory opens immediately and needs neither a socket nor a file.
func ExampleOpen() {
	db, err := sortkey.Open(sortkey.Options{}) // in memory; or on a store of store/disk or store/postgres
	check(err)
	defer db.Close()
	check(db.CreateTable(ctx, "Music", "artist / title"))
	songs := sortkey.Table[Song](db, "Music") // a struct with the tags of the AWS SDK
	check(songs.Put(ctx, Song{Artist: "Nina", Title: "Sinnerman", Year: 1965}))
	for song, err := range songs.Query(ctx, "Nina", sortkey.BeginsWith("S")) {
		fmt.Println(song.Title, err)
	}

	song, err := songs.Get(ctx, "Nina", "Sinnerman")
	fmt.Println(song.Year, err)
	_, err = songs.Get(ctx, "Nina", "Nothing")
	fmt.Println(errors.Is(err, sortkey.ErrNotFound))
	// Output:
	// Sinnerman <nil>
	// 1965 <nil>
	// true
}

// A query reads one contiguous range of an item collection, in the order of the sort key.
func ExampleTableOf_Query() {
	db, songs := music(sortkey.Options{})
	defer db.Close()
	for song, err := range songs.Query(ctx, "Nina", sortkey.BeginsWith("S")) {
		fmt.Println(song.Title, err)
	}
	for song, err := range songs.Query(ctx, "Nina", sortkey.Between("B", "G"), sortkey.Descending) {
		fmt.Println(song.Title, err)
	}
	for song, err := range songs.Index("ByYear").Query(ctx, 1965, sortkey.Limit(1)) {
		fmt.Println(song.Title, err)
	}
	// Output:
	// Sinnerman <nil>
	// Feeling Good <nil>
	// Baltimore <nil>
	// Feeling Good <nil>
}

// A template makes composite keys and their ranges.
func ExampleTableOf_Query_template() {
	db, err := sortkey.Open(sortkey.Options{})
	check(err)
	defer db.Close()
	check(db.CreateTable(ctx, "Shop", "PK / SK"))
	orders := sortkey.Table[map[string]any](db, "Shop")
	order := keys.MustParse("ORDER#{day:date}#{id}")
	for day, id := range map[string]string{"2026-01-30": "a", "2026-01-31": "b", "2026-02-01": "c"} {
		sk, err := order.Format(day, id)
		check(err)
		check(orders.Put(ctx, map[string]any{"PK": "CUSTOMER#7", "SK": sk}))
	}
	january, err := order.Between("2026-01-01", "2026-01-31")
	check(err)
	for it, err := range orders.Query(ctx, "CUSTOMER#7", sortkey.In(january)) {
		fmt.Println(it["SK"], err)
	}
	// Output:
	// ORDER#2026-01-30#a <nil>
	// ORDER#2026-01-31#b <nil>
}

// A page has a cursor, which is text: another program can go on there.
func ExampleTableOf_QueryPage() {
	db, songs := music(sortkey.Options{})
	defer db.Close()
	page, err := songs.QueryPage(ctx, "Nina", sortkey.Limit(2))
	check(err)
	fmt.Println(len(page.Items), page.Trace)
	page, err = songs.QueryPage(ctx, "Nina", sortkey.After(page.Cursor))
	check(err)
	fmt.Println(len(page.Items), page.Trace)
	_, err = songs.Index("ByYear").ScanPage(ctx, sortkey.After("bm90aGluZw"))
	fmt.Println(err)
	// Output:
	// 2 artist = "Nina", all of it: 2 rows examined, 2 returned, 72 bytes, 0.5 read units, stopped at Limit
	// 1 artist = "Nina", title after "Feeling Good": 1 row examined, 1 returned, 38 bytes, 0.5 read units
	// sortkey: After("bm90aGluZw"): this is not the cursor of a page
}

// A condition that does not hold leaves the item as it is, and the error has it.
func ExampleIf() {
	db, songs := music(sortkey.Options{})
	defer db.Close()
	err := songs.Put(ctx, Song{Artist: "Nina", Title: "Sinnerman"}, sortkey.If("attribute_not_exists(artist)"))
	var refused *sortkey.Error
	if errors.As(err, &refused) && errors.Is(err, sortkey.ErrConditionFailed) {
		var song Song
		check(attr.UnmarshalItem(refused.Item, &song))
		fmt.Println(refused.Message, song.Year)
	}
	// Reserved words such as year need no placeholder.
	fmt.Println(songs.Delete(ctx, "Nina", "Sinnerman", sortkey.If("year < :y", 1960)))
	// Output:
	// The conditional request failed 1965
	// ConditionalCheckFailedException: The conditional request failed
}

func ExampleTableOf_Update() {
	db, songs := music(sortkey.Options{})
	defer db.Close()
	song, err := songs.Update(ctx, sortkey.Key{"Nina", "Baltimore"},
		"SET plays = if_not_exists(plays, :zero) + :n", 0, 1)
	fmt.Println(song.Plays, err)
	// Output: 1 <nil>
}

// An Update is all or nothing, over any tables.
func ExampleDB_Update() {
	db, songs := music(sortkey.Options{})
	defer db.Close()
	move := func(ctx context.Context) error {
		song, err := songs.Get(ctx, "Miles", "So What")
		if err != nil {
			return err
		}
		if err := songs.Delete(ctx, song.Artist, song.Title); err != nil {
			return err
		}
		song.Title = "So What (live)"
		return songs.Put(ctx, song, sortkey.If("attribute_not_exists(artist)"))
	}
	fmt.Println(db.Update(ctx, move))
	fmt.Println(db.Update(ctx, move)) // the song has gone
	for song, err := range songs.Query(ctx, "Miles") {
		fmt.Println(song.Title, err)
	}
	// Output:
	// <nil>
	// sortkey: no item with this key
	// So What (live) <nil>
}

// The stream of a table has its changes, each with the place from which to go on.
func ExampleTableOf_Changes() {
	db, songs := music(sortkey.Options{})
	defer db.Close()
	_, err := songs.Update(ctx, sortkey.Key{"Miles", "So What"}, "SET plays = plays + :n", 1)
	check(err)
	for change, err := range songs.Changes(ctx, "", sortkey.UntilNow) {
		check(err)
		if change.Old != nil {
			fmt.Println(change.Old.Plays, "→", change.New.Plays)
		}
	}
	// Output: 7 → 8
}

// An observer sees every operation, with what it read and cost.
func ExampleObserver() {
	db, err := sortkey.Open(sortkey.Options{Observer: logger{}})
	check(err)
	defer db.Close()
	_, err = sortkey.Table[Song](db, "Music").ScanPage(ctx)
	fmt.Println(errors.Is(err, sortkey.ErrNoTable))
	// Output:
	// Scan of [Music]: ResourceNotFoundException
	// true
}

type logger struct{}

func (logger) Begin(context.Context, *sortkey.Event) {}

func (logger) End(_ context.Context, e *sortkey.Event) {
	fmt.Printf("%s of %v: %s\n", e.Operation, e.Tables, e.Error)
}

func ExampleDB_Fork() {
	db, _ := music(sortkey.Options{})
	defer db.Close()
	fork, err := db.Fork() // the time does not depend on the size
	check(err)
	defer fork.Close()
	check(fork.DeleteTable(ctx, "Music"))
	fmt.Println(fork.Tables(ctx))
	fmt.Println(db.Tables(ctx))
	// Output:
	// [] <nil>
	// [Music] <nil>
}

func ExampleSimulation() {
	stale := sortkey.StaleReads{Window: time.Hour, Oldest: true}
	db, songs := music(sortkey.Options{Simulate: sortkey.Simulation{StaleReads: stale}})
	defer db.Close()
	_, err := songs.Get(ctx, "Nina", "Sinnerman")
	fmt.Println(err)
	song, err := songs.Get(ctx, "Nina", "Sinnerman", sortkey.Consistent)
	fmt.Println(song.Year, err)
	// Output:
	// sortkey: no item with this key
	// 1965 <nil>
}
