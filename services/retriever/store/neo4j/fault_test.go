package neo4j

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"go.opentelemetry.io/otel/metric/noop"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

const secret = "s3cret-pass"

func passwordFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func testServer(t *testing.T, g Graph) *server {
	t.Helper()
	g.User, g.PasswordFile = "ann", passwordFile(t)
	s, err := newServer(g.withDefaults(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	return s
}

func TestFaultsSayWhatToDo(t *testing.T) {
	s := testServer(t, Graph{URI: "neo4j+s://graph.example.org:7687", Database: "films"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	refused := func(code, message string) error { return &neo4j.Neo4jError{Code: code, Msg: message} }
	for name, c := range map[string]struct {
		err  error
		code codes.Code
		says string
	}{
		"a wrong password": {refused("Neo.ClientError.Security.Unauthorized", "password "+secret),
			codes.FailedPrecondition, "user ann is refused; check user and password_file"},
		"a user who may not read": {refused("Neo.ClientError.Security.Forbidden", "no access for "+secret),
			codes.FailedPrecondition, "user ann may not do this"},
		"a database that is not there": {refused("Neo.ClientError.Database.DatabaseNotFound",
			"Unable to get a routing table for database 'films'"), codes.FailedPrecondition,
			`database "films": Unable`},
		"a statement that took too long": {
			refused("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", "terminated"),
			codes.DeadlineExceeded, "statement_timeout, 10s"},
		"no answer in time": {context.DeadlineExceeded, codes.DeadlineExceeded,
			"no answer within statement_timeout, 10s"},
		"a server under strain": {refused("Neo.TransientError.General.MemoryPoolOutOfMemoryError", "full"),
			codes.Unavailable, "try again"},
		"an older server": {refused("Neo.ClientError.Statement.SyntaxError", "Invalid input"),
			codes.FailedPrecondition, "Neo4j 5.13 or newer"},
		"something else": {refused("Neo.DatabaseError.General.UnknownError", "broken"),
			codes.Internal, "broken"},
		"a server that is down": {&neo4j.ConnectivityError{Inner: errors.New("connection refused")},
			codes.Unavailable, "connection refused"},
		"many tries, of which one counts": {&neo4j.TransactionExecutionLimit{Errors: []error{errors.New("x"),
			refused("Neo.ClientError.Security.Unauthorized", "")}}, codes.FailedPrecondition, "is refused"},
	} {
		err := store.WrapError("walk", "movies", 3, s.wrapError(t.Context(), c.err))
		if status.Code(err) != c.code || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(),
			"neo4j+s://graph.example.org:7687") {
			t.Errorf("%s: %v (%v)", name, err, status.Code(err))
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error reveals the password: %v", name, err)
		}
		if !errors.Is(err, c.err) && name != "many tries, of which one counts" {
			t.Errorf("%s: the cause is lost", name)
		}
	}
	if err := s.wrapError(cancelled, context.DeadlineExceeded); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	if s.wrapError(t.Context(), nil) != nil {
		t.Error("no error is a fault")
	}
}

// listen accepts connections and does with each what serve does.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

func TestServersThatDoNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		addr string
		code codes.Code
	}{
		"one that is down":                 {testkit.FreeAddr(t), codes.Unavailable},
		"one that takes calls and says no": {listen(t, func(c net.Conn) { _ = c.Close() }), codes.Unavailable},
		"one that speaks something else": {listen(t, func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}), codes.Unavailable},
		"one that takes calls and says never": {listen(t, func(net.Conn) {}), codes.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testServer(t, Graph{URI: "bolt://" + c.addr, StatementTimeout: 300 * time.Millisecond})
			_, err := s.query(t.Context(), "RETURN 1", nil)
			err = store.WrapError("walk", "movies", 1, err)
			if got := status.Code(err); got != c.code && got != codes.DeadlineExceeded {
				t.Errorf("%v is %v, want %v", err, got, c.code)
			}
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAStoreWhileTheServerIsDown(t *testing.T) {
	s := newInMemory(t)
	storetest.Build(t, s, "world", storetest.World())
	down := &Fault{code: codes.Unavailable, text: "down"}
	snap := storetest.Open(t, s, "world", 0)
	met := s.meets(t, snap)
	s.graphs["world"].err = down
	query := [][]float32{make([]float32, storetest.Dims)}
	for name, call := range map[string]func() error{
		"search": func() error { _, err := snap.SearchTriples(t.Context(), query, 3, store.Filter{}); return err },
		"edges": func() error {
			_, err := snap.Edges(t.Context(), []store.EntityID{0}, store.Out, nil)
			return err
		},
		"relations": func() error { _, err := snap.Relations(t.Context(), 0, store.Out); return err },
		"sample":    func() error { _, err := snap.Sample(t.Context(), 0, store.Out, 0, 3); return err },
		"degree":    func() error { return store.Guard(func() error { snap.Degree(met, store.Out); return nil }) },
		"entity":    func() error { _, _, err := snap.Entity(t.Context(), "nobody"); return err },
		"verify":    func() error { _, _, err := s.Verify(t.Context(), "world", 0); return err },
		"write": func() error {
			_, err := s.Store.Write(t.Context(), "world", storetest.Content(t, storetest.World()))
			return err
		},
		"origin": func() error {
			read, _ := s.Origin("world")
			_, err := read(t.Context(), &sourcetest.Sink{})
			return err
		},
	} {
		err := call()
		var known *store.Error
		if !errors.Is(err, down) || !errors.As(err, &known) || known.KG != "world" ||
			status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v (%v)", name, err, status.Code(err))
		}
	}
	// What needs no server continues.
	if listed, err := s.List(t.Context(), "world"); err != nil || len(listed) != 1 {
		t.Errorf("after a write that failed the list is %v, %v", listed, err)
	}
	if e, ok, err := snap.Entity(t.Context(), "Paris"); err != nil || !ok || snap.EntityName(e) != "Paris" {
		t.Errorf("Paris is not there: %v", err)
	}
}

func TestAnUnknownName(t *testing.T) {
	for name, c := range map[string]struct {
		row  []any
		says string
	}{
		"no node at all":          {[]any{false, false}, "no node with one of the labels"},
		"nodes, none with a name": {[]any{true, false}, `no node has the property "titel"; check name_property`},
	} {
		g := &graph{Graph: Graph{URI: "bolt://x", NameProperty: "titel", Labels: []string{"Film"}}, reader: rows{c.row}}
		err := store.WrapError("load", "movies", 0, g.checkNames(t.Context()))
		if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g := &graph{reader: rows{{true, true}}}
	if err := g.checkNames(t.Context()); err != nil {
		t.Error(err)
	}
}

// rows are what every statement returns.
type rows [][]any

func (r rows) query(context.Context, string, map[string]any) ([][]any, error) { return r, nil }

func TestAGraphIsVisibleToItsTenantOnly(t *testing.T) {
	all, err := NewTenants(t.TempDir(),
		Config{Graphs: map[string]Graph{"movies": {URI: "bolt://127.0.0.1:1", Tenant: "acme"}}},
		slog.New(slog.DiscardHandler), noop.NewMeterProvider().Meter(""))
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	acme, err := auth.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[auth.Tenant]bool{acme: true, auth.DefaultTenant(): false} {
		st, err := all.ForTenant(id)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := st.(*Store).Origin("movies"); ok != want {
			t.Errorf("the graph is there for %s: %v", id, ok)
		}
		if _, err := st.Open(t.Context(), "movies", 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a graph that was not loaded is open for %s: %v", id, err)
		}
	}
}

// meets adds a node beside an entity and lets a snapshot meet it.
func (s inMemory) meets(t *testing.T, snap store.Snapshot) store.EntityID {
	t.Helper()
	m := s.graphs["world"]
	m.names = append(m.names, "Rome")
	m.rels = append(m.rels, relationship{from: int64(len(m.names) - 1), to: 0, kind: "located in"})
	e, ok, err := snap.Entity(t.Context(), m.names[0].(string))
	if err != nil || !ok {
		t.Fatalf("%v is not there: %v", m.names[0], err)
	}
	lists, err := snap.Edges(t.Context(), []store.EntityID{e}, store.In, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, edge := range lists[0] {
		if snap.EntityName(edge.Entity) == "Rome" {
			return edge.Entity
		}
	}
	t.Fatalf("Rome is not met among %v", lists)
	return 0
}
