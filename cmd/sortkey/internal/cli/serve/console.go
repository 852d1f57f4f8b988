package serve

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
)

// serveConsole serves the console of a server's database, and prints its address. On the pages, name is the name of
// the server. Observers of the database do not see the requests of the console.
func serveConsole(
	ctx context.Context, env *app.Env, port, name string, db *sortkey.DB, recorder *console.Recorder,
	designs []*model.Model,
) (end func(), err error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, app.UsageError("write --console, or --console=8001", "--console: %q is not a port", port)
	}
	site, err := web.Listen(int(n))
	if err != nil {
		return nil, &advice.Error{Msg: "--console: " + err.Error(), Advice: "give another port, or none", Err: err}
	}
	pages := console.New(console.Options{
		Target: explain.InProcess(db), Name: name, Requests: recorder, DB: db, Models: designs,
	})
	fmt.Fprintf(env.Stdout, "sortkey: console at %s\n", site.URL())
	ctx, cancel := context.WithCancel(event.Quiet(ctx))
	done := make(chan error, 1)
	go func() { done <- site.Serve(ctx, pages.Handler()) }()
	return func() {
		cancel()
		<-done
		_ = pages.Close()
	}, nil
}
