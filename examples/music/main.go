// Command music is a music library on the embedded store. It shows two indexes, an undo built on transactions, and a
// feed of the library's changes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sortkey/sortkey"
)

// A Song is an item of the table Songs.
type Song struct {
	Artist string `dynamodbav:"artist"`
	Title  string `dynamodbav:"title"`
	Year   int    `dynamodbav:"year"`
	Plays  int    `dynamodbav:"plays"`
}

// A Step is an item of the table Steps: a song as it was before a change.
type Step struct {
	Library string `dynamodbav:"library"`
	Number  int    `dynamodbav:"number"`
	Artist  string `dynamodbav:"artist"`
	Title   string `dynamodbav:"title"`
	Before  *Song  `dynamodbav:"before"`
}

// Undo returns ErrNothing if there is nothing to undo.
var ErrNothing = errors.New("nothing to undo")

// A Library is a collection of songs. Undo undoes its changes, the last one first.
type Library struct {
	db    *sortkey.DB
	songs *sortkey.TableOf[Song]
	steps *sortkey.TableOf[Step]
}

// NewLibrary returns the library in a database. It creates the tables if they are missing.
func NewLibrary(ctx context.Context, db *sortkey.DB) (*Library, error) {
	err := db.EnsureTable(ctx, "Songs", "artist / title", sortkey.Global("ByYear", "year:N / title"),
		sortkey.Local("ByPlays", "plays:N"), sortkey.Stream())
	if err != nil {
		return nil, err
	}
	if err := db.EnsureTable(ctx, "Steps", "library / number:N"); err != nil {
		return nil, err
	}
	return &Library{db, sortkey.Table[Song](db, "Songs"), sortkey.Table[Step](db, "Steps")}, nil
}

// Put adds a song or replaces it.
func (l *Library) Put(ctx context.Context, song Song) error {
	return l.change(ctx, song.Artist, song.Title, func(ctx context.Context) error { return l.songs.Put(ctx, song) })
}

// Play adds one to the plays of a song. The error is [sortkey.ErrConditionFailed] if there is no such song.
func (l *Library) Play(ctx context.Context, artist, title string) error {
	return l.change(ctx, artist, title, func(ctx context.Context) error {
		_, err := l.songs.Update(ctx, sortkey.Key{artist, title}, "SET plays = plays + :n", 1,
			sortkey.If("attribute_exists(artist)"))
		return err
	})
}

// Remove removes a song.
func (l *Library) Remove(ctx context.Context, artist, title string) error {
	return l.change(ctx, artist, title, func(ctx context.Context) error { return l.songs.Delete(ctx, artist, title) })
}

// change runs do, which changes a song. In the same transaction it records the song as it was before.
func (l *Library) change(ctx context.Context, artist, title string, do func(context.Context) error) error {
	return l.db.Update(ctx, func(ctx context.Context) error {
		last, err := l.last(ctx)
		if err != nil && !errors.Is(err, ErrNothing) {
			return err
		}
		step := Step{Library: "songs", Number: last.Number + 1, Artist: artist, Title: title}
		song, err := l.songs.Get(ctx, artist, title)
		switch {
		case err == nil:
			step.Before = &song
		case !errors.Is(err, sortkey.ErrNotFound):
			return err
		}
		if err := l.steps.Put(ctx, step); err != nil {
			return err
		}
		return do(ctx)
	})
}

// last returns the latest step, or ErrNothing.
func (l *Library) last(ctx context.Context) (Step, error) {
	for step, err := range l.steps.Query(ctx, "songs", sortkey.Descending, sortkey.Limit(1)) {
		return step, err
	}
	return Step{}, ErrNothing
}

// Undo undoes the last change.
func (l *Library) Undo(ctx context.Context) error {
	return l.db.Update(ctx, func(ctx context.Context) error {
		step, err := l.last(ctx)
		if err != nil {
			return err
		}
		if err := l.steps.Delete(ctx, step.Library, step.Number); err != nil {
			return err
		}
		if step.Before == nil {
			return l.songs.Delete(ctx, step.Artist, step.Title)
		}
		return l.songs.Put(ctx, *step.Before)
	})
}

// Charts writes the songs of an artist to w, the most played first.
func (l *Library) Charts(ctx context.Context, w io.Writer, artist string) error {
	for song, err := range l.songs.Index("ByPlays").Query(ctx, artist, sortkey.Descending) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%d × %s\n", song.Plays, song.Title)
	}
	return nil
}

// Year writes the songs of a year to w, sorted by title.
func (l *Library) Year(ctx context.Context, w io.Writer, year int) error {
	for song, err := range l.songs.Index("ByYear").Query(ctx, year) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", song.Artist, song.Title)
	}
	return nil
}

// Feed writes the changes after a cursor to w. It returns the cursor with which the next call continues.
func (l *Library) Feed(ctx context.Context, w io.Writer, cursor string) (string, error) {
	for change, err := range l.songs.Changes(ctx, cursor, sortkey.UntilNow) {
		if err != nil {
			return cursor, err
		}
		cursor = change.Cursor
		switch {
		case change.Old == nil:
			fmt.Fprintf(w, "+ %s\n", change.New.Title)
		case change.New == nil:
			fmt.Fprintf(w, "- %s\n", change.Old.Title)
		default:
			fmt.Fprintf(w, "~ %s: %d → %d plays\n", change.New.Title, change.Old.Plays, change.New.Plays)
		}
	}
	return cursor, nil
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "music:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	l, err := NewLibrary(ctx, db)
	if err != nil {
		return err
	}

	for _, song := range []Song{
		{"Nina", "Sinnerman", 1965, 9}, {"Nina", "Feeling Good", 1965, 12}, {"Miles", "So What", 1959, 7},
	} {
		if err := l.Put(ctx, song); err != nil {
			return err
		}
	}

	err = errors.Join(l.Play(ctx, "Nina", "Sinnerman"), l.Remove(ctx, "Miles", "So What"), l.Undo(ctx))
	if err != nil {
		return err
	}
	if err := errors.Join(l.Charts(ctx, w, "Nina"), l.Year(ctx, w, 1959)); err != nil {
		return err
	}

	_, err = l.Feed(ctx, w, "")
	return err
}
