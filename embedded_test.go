package sortkey_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keys"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store/memory"
)

// TestEmbeddedDocument tests that docs/embedded.md has only code of this file.
func TestEmbeddedDocument(t *testing.T) {
	page, err := os.ReadFile("docs/embedded.md")
	require.NoError(t, err)
	here, err := os.ReadFile("embedded_test.go")
	require.NoError(t, err)
	trimmed := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
		return b.String()
	}
	code, blocks := trimmed(string(here)), strings.Split(string(page), "```go\n")[1:]
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		block, _, ok := strings.Cut(block, "```")
		require.True(t, ok)
		if !strings.Contains(code, trimmed(block)) {
			t.Errorf("embedded_test.go lacks this code of docs/embedded.md:\n%s", block)
		}
	}
}

func TestEmbedded(t *testing.T) {
	ctx := t.Context()
	db, err := sortkey.Open(sortkey.Options{}) // in memory
	require.NoError(t, err)
	defer db.Close()

	err = db.EnsureTable(ctx, "Music", "artist / title",
		sortkey.Global("ByYear", "year:N / title"), // a global secondary index
		sortkey.Local("ByPlays", "plays:N"),        // a local one: another order of an item collection
		sortkey.Stream())                           // remember the changes
	require.NoError(t, err)

	type Song struct {
		Artist string   `dynamodbav:"artist"`
		Title  string   `dynamodbav:"title"`
		Year   int      `dynamodbav:"year"`
		Plays  int      `dynamodbav:"plays"`
		Genres []string `dynamodbav:"genres,stringset,omitempty"`
	}

	music := sortkey.Table[Song](db, "Music")
	for _, song := range []Song{
		{"Nina", "Sinnerman", 1965, 9, []string{"jazz", "soul"}}, {"Nina", "Strange Fruit", 1965, 4, []string{"jazz"}},
		{"Nina", "Baltimore", 1978, 2, nil}, {"Miles", "So What", 1959, 7, []string{"jazz"}},
	} {
		require.NoError(t, music.Put(ctx, song))
	}

	read := func(artist, title string) string {
		song, err := music.Get(ctx, "Nina", "Sinnerman")
		if errors.Is(err, sortkey.ErrNotFound) {
			return "no such song"
		}
		return song.Title
	}
	require.Equal(t, "Sinnerman", read("Nina", "Sinnerman"))

	t.Run("times", func(t *testing.T) {
		type Event struct {
			Device string         `dynamodbav:"device"`
			At     keys.Timestamp `dynamodbav:"at"`           // key "device / at"
			Due    time.Time      `dynamodbav:"due,unixtime"` // key "due:N", to the second
			Seen   time.Time      `dynamodbav:"seen"`         // no key
		}
		now := time.Date(2026, 1, 5, 10, 0, 0, 500_000_000, time.UTC)
		event := Event{Device: "d1", At: keys.TimestampOf(now), Due: now.Add(time.Hour), Seen: now}
		require.NoError(t, db.EnsureTable(ctx, "Events", "device / at", sortkey.Global("ByDue", "due:N")))
		require.NoError(t, sortkey.Table[Event](db, "Events").Put(ctx, event))
	})

	t.Run("second start", func(t *testing.T) {
		db, err := db.Fork()
		require.NoError(t, err)
		defer db.Close()
		err = db.EnsureTable(ctx, "Music", "artist / title",
			sortkey.Global("ByYear", "year:N / title"),
			sortkey.Global("ByPlaysOfYear", "year:N / plays:N").Only("genres"), // new
			sortkey.Local("ByPlays", "plays:N"),
			sortkey.Stream())
		require.NoError(t, err)
		info, err := db.Describe(ctx, "Music")
		for _, index := range info.Indexes {
			fmt.Println(index.Name, index.Key, index.Status, index.Examined, "of", info.Items)
		}
		require.NoError(t, err)
		require.Len(t, info.Indexes, 3)
	})

	t.Run("many", func(t *testing.T) {
		songs, err := sortkey.Collect(music.Query(ctx, "Nina", sortkey.BeginsWith("S")))
		require.NoError(t, err)
		jazz, err := music.Count(ctx, "Nina", sortkey.Where("contains(genres, :g)", "jazz"))
		require.NoError(t, err)
		some, err := music.GetMany(ctx, []sortkey.Key{{"Nina", "Sinnerman"}, {"Nina", "Missing"}})
		require.NoError(t, err)
		err = music.PutMany(ctx, slices.Values(songs))
		require.NoError(t, err)
		require.Equal(t, []int{2, 2}, []int{len(songs), jazz})
		require.Equal(t, "Sinnerman", some[0].Title)
		require.Nil(t, some[1])
	})

	t.Run("copies", func(t *testing.T) {
		file, err := os.Create(filepath.Join(t.TempDir(), "music.backup"))
		require.NoError(t, err)
		defer file.Close()
		err = db.Backup(ctx, file)
		require.NoError(t, err)
		_, err = file.Seek(0, io.SeekStart)
		require.NoError(t, err)

		st := memory.Open() // or disk.Open in a new folder
		err = sortkey.Restore(ctx, st, file)
		require.NoError(t, err)
		db, err := sortkey.Open(sortkey.Options{Store: st})
		require.NoError(t, err)
		defer db.Close()
		n, err := sortkey.Table[Song](db, "Music").Count(ctx)
		require.NoError(t, err)
		require.Equal(t, 4, n)
	})

	t.Run("upkeep", func(t *testing.T) {
		stats, err := db.Stats(ctx)
		fmt.Println(stats.Rows, "rows,", stats.Bytes, "bytes,", stats.Versions, "versions,", stats.DiskBytes, "on disk")
		require.NoError(t, err)
		require.Positive(t, stats.Rows)
		err = db.Compact(ctx)
		require.NoError(t, err)
	})

	t.Run("errors", func(t *testing.T) {
		w := httptest.NewRecorder()
		_, err := music.Get(ctx, "Nina", "Missing")
		func() {
			if err != nil {
				http.Error(w, http.StatusText(sortkey.StatusOf(err)), sortkey.StatusOf(err))
				return
			}
		}()
		require.Equal(t, 404, w.Code)
	})

	t.Run("read", func(t *testing.T) {
		var titles []string
		list := func() string {
			for song, err := range music.Query(ctx, "Nina", sortkey.BeginsWith("S"), sortkey.Descending) {
				if err != nil {
					return err.Error()
				}
				titles = append(titles, song.Title)
			}
			for song, err := range music.Index("ByYear").Query(ctx, 1965, sortkey.Limit(10)) {
				if err != nil {
					return err.Error()
				}
				titles = append(titles, song.Title)
			}
			for song, err := range music.Scan(ctx, sortkey.Where("contains(genres, :g) AND year < :y", "jazz", 1960)) {
				if err != nil {
					return err.Error()
				}
				titles = append(titles, song.Title)
			}
			return strings.Join(titles, ", ")
		}
		require.Equal(t, "Strange Fruit, Sinnerman, Sinnerman, Strange Fruit, So What", list())
		for song, err := range music.Scan(ctx, sortkey.Where("contains(genres, :g) AND year < :y", "jazz", 1970)) {
			require.NoError(t, err)
			require.Contains(t, song.Genres, "jazz")
		}

		fork, err := db.Fork()
		require.NoError(t, err)
		defer fork.Close()
		odd := map[string]any{"artist": "Nina", "title": "Odd", "genres": "no set"}
		require.NoError(t, sortkey.Table[map[string]any](fork, "Music").Put(ctx, odd))
		var wrong []attr.Item
		titles = nil
		report := func(music *sortkey.TableOf[Song]) string {
			for song, err := range music.Query(ctx, "Nina") {
				var misfit *sortkey.DecodeError
				if errors.As(err, &misfit) {
					wrong = append(wrong, misfit.Key)
					continue
				}
				if err != nil {
					return err.Error()
				}
				titles = append(titles, song.Title)
			}
			return strings.Join(titles, ", ")
		}
		require.Equal(t, "Baltimore, Sinnerman, Strange Fruit", report(sortkey.Table[Song](fork, "Music")))
		require.Len(t, wrong, 1)

		page, err := music.QueryPage(ctx, "Nina", sortkey.Limit(2))
		fmt.Println(page.Trace) // artist = "Nina", all of it: 2 rows examined, 2 returned, …
		require.NoError(t, err)
		require.Contains(t, page.Trace.String(), `artist = "Nina", all of it: 2 rows examined, 2 returned, `)
		page, err = music.QueryPage(ctx, "Nina", sortkey.After(page.Cursor))
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
	})

	t.Run("write", func(t *testing.T) {
		song := Song{Artist: "Nina", Title: "Sinnerman"}
		err = music.Put(ctx, song, sortkey.If("attribute_not_exists(artist)"))
		var refused *sortkey.Error
		if errors.Is(err, sortkey.ErrConditionFailed) && errors.As(err, &refused) {
			err = attr.UnmarshalItem(refused.Item, &song)
		}
		require.NoError(t, err)
		require.Equal(t, 9, song.Plays)

		fork, err := db.Fork()
		require.NoError(t, err)
		defer fork.Close()
		func(music *sortkey.TableOf[Song]) {
			song, err = music.Update(ctx, sortkey.Key{"Nina", "Sinnerman"}, "SET plays = plays + :n", 1)
			require.NoError(t, err)
			err = music.Delete(ctx, "Nina", "Sinnerman", sortkey.If("plays < :n", 100), sortkey.Old(&song))
		}(sortkey.Table[Song](fork, "Music"))
		require.NoError(t, err)
		require.Equal(t, 10, song.Plays)
	})

	t.Run("transaction", func(t *testing.T) {
		err = db.Update(ctx, func(ctx context.Context) error {
			song, err := music.Get(ctx, "Nina", "Sinnerman")
			if err != nil {
				return err
			}
			song.Title = "Sinnerman (live)"
			return errors.Join(
				music.Delete(ctx, "Nina", "Sinnerman"),
				music.Put(ctx, song, sortkey.If("attribute_not_exists(artist)")),
			)
		})
		require.NoError(t, err)
		_, err := music.Get(ctx, "Nina", "Sinnerman (live)")
		require.NoError(t, err)
	})

	t.Run("keys", func(t *testing.T) {
		track := keys.MustParse("ALBUM#{album}#{disc:int(2)}#{track:int(3)}")
		sk, err := track.Format("Pastel Blues", 1, 9) // ALBUM#Pastel Blues#01#009
		require.NoError(t, err)
		disc, err := track.Under("Pastel Blues", 1) // all tracks of the disc
		require.NoError(t, err)
		require.True(t, disc.Contains(sk))
	})

	t.Run("changes", func(t *testing.T) {
		var changed []attr.Item
		cursor := ""
		feed := func() string {
			for change, err := range music.Changes(ctx, cursor, sortkey.UntilNow) {
				if err != nil {
					return err.Error()
				}
				cursor = change.Cursor
				changed = append(changed, change.Key) // change.Old and change.New are songs, or nil
			}
			return ""
		}
		require.Empty(t, feed())
		require.Len(t, changed, 6)
		require.NoError(t, music.Put(ctx, Song{Artist: "Nina", Title: "Last"}))
		require.Empty(t, feed())
		require.Len(t, changed, 7, "it goes on after the cursor")
	})

	t.Run("cloud", func(t *testing.T) {
		song := Song{Artist: "Nina", Title: "Cloud"}
		client := sdk.Client(db) // a real *dynamodb.Client
		item, err := attributevalue.MarshalMap(song)
		require.NoError(t, err)
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Music"), Item: item})
		require.NoError(t, err)
		got, err := music.Get(ctx, "Nina", "Cloud")
		require.NoError(t, err)
		require.Equal(t, song, got)
	})
}
