package sortkeytest

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/server"
)

// Config returns the AWS configuration of [sdk.Config], for code that creates its own clients with NewFromConfig. db
// answers these clients. For code that calls config.LoadDefaultConfig, see [DB.Setenv].
func (db *DB) Config() aws.Config { return sdk.Config(db.DB) }

// URL returns the address at which programs on this machine reach the database over HTTP, such as
// http://127.0.0.1:41234. The first call starts a server, which stops when the test of the database ends. In a bubble
// of testing/synctest, URL fails the test, as the time of the bubble would stand still while the server waits for the
// network.
func (db *DB) URL() string {
	db.t.Helper()
	if over := db.life.over(); over != "" {
		db.t.Fatalf("sortkeytest: cannot start a server: %s", over)
	}
	if inBubble() {
		db.t.Fatalf("sortkeytest: cannot start a server in a bubble of testing/synctest: " +
			"its time stops while something waits for the network")
	}
	url, err := db.serve()
	db.must(err, "")
	return url
}

// Env returns environment variables. With them, the AWS SDKs and tools of any language reach the database at its
// [DB.URL], without a proxy:
//
//	cmd := exec.CommandContext(t.Context(), "pytest")
//	cmd.Env = append(os.Environ(), db.Env()...)
func (db *DB) Env() []string {
	db.t.Helper()
	url := db.URL()
	who, err := db.Client.Options().Credentials.Retrieve(quiet)
	db.must(err, "")
	env := []string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + url,
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + url,
		"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=false",
		"AWS_REGION=" + db.DB.Region(),
		"AWS_DEFAULT_REGION=" + db.DB.Region(),
		"AWS_ACCESS_KEY_ID=" + who.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + who.SecretAccessKey,
		"AWS_SESSION_TOKEN=",
		"AWS_EC2_METADATA_DISABLED=true",
	}

	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		hosts := "127.0.0.1"
		if others := os.Getenv(name); others != "" {
			hosts = others + "," + hosts
		}
		env = append(env, name+"="+hosts)
	}
	return env
}

// Setenv sets the variables of [DB.Env] until t ends. Code under test that calls config.LoadDefaultConfig then
// reaches the database. Setenv also clears AWS_PROFILE and AWS_CA_BUNDLE. Like t.Setenv, it cannot be used in
// parallel tests.
func (db *DB) Setenv(t testing.TB) {
	t.Helper()
	for _, variable := range append(db.With(t).Env(), "AWS_PROFILE=", "AWS_CA_BUNDLE=") {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
}

// listen returns a function that returns the URL of a server. The first call of that function starts the server,
// which runs until t ends.
func listen(t testing.TB, db *sortkey.DB) func() (url string, err error) {
	return sync.OnceValues(func() (string, error) {
		ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			// Nobody waits for answers after the test, so abort running requests at once: a negative timeout does
			// that.
			_ = server.New(db, server.Options{ShutdownTimeout: -1}).Serve(ctx, ln)
		}()
		t.Cleanup(func() {
			cancel()
			<-done
		})
		return "http://" + ln.Addr().String(), nil
	})
}
