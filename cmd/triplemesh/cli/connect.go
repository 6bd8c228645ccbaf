package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// ServerFlags select the mesh that answers: a running one or one in this process.
type ServerFlags struct {
	Server string `placeholder:"ADDR" env:"TRIPLEMESH_SERVER" help:"${server}"`
	Local  bool   `help:"Answer in this process, without a server."`
	// Retriever lists the knowledge graphs if none is named.
	Retriever string `hidden:"" env:"TRIPLEMESH_RETRIEVER"`
}

// storeFlags select the retriever that stores the knowledge graphs.
type storeFlags struct {
	Retriever string `placeholder:"ADDR" env:"TRIPLEMESH_RETRIEVER" help:"${retriever}"`
	Local     bool   `help:"Use the data directory in this process, without a server."`
}

// Session is a connection to a service. The caller must call Close.
type Session struct {
	*grpc.ClientConn
	// Mesh runs in this process; nil if there is none.
	Mesh  *mesh.Mesh
	Close func() error
}

// probeTimeout bounds a health probe.
const probeTimeout = 3 * time.Second

// Connect reaches a service at addr, or runs the targets in this process and
// reaches the first of them.
func (p *Program) Connect(addr string, local bool, targets ...string) (*Session, error) {
	return p.connect(addr, local, nil, targets...)
}

// connect is Connect with a substitute for some model calls of a mesh in this process.
func (p *Program) connect(addr string, local bool, substitute llm.Substitute, targets ...string) (*Session, error) {
	tel, err := telemetry.Start(p.Ctx, telemetry.Config{LogLevel: "warn", LogWriter: p.Stderr}, "triplemesh")
	if err != nil {
		return nil, err
	}
	var inProcess *mesh.Mesh
	endMesh := func() error { return nil }
	endTelemetry := func() error { return tel.Shutdown(context.WithoutCancel(p.Ctx)) }
	if local {
		if inProcess, endMesh, err = p.runLocal(targets, substitute); err != nil {
			return nil, errors.Join(err, endTelemetry())
		}
		addr = inProcess.Addr(targets[0])
	} else if addr, err = p.reachable(addr, targets[0]); err != nil {
		if code := new(ExitError); !p.waits || !errors.As(err, code) || code.Code != exitUnreachable {
			return nil, errors.Join(err, endTelemetry())
		}
		fmt.Fprintf(p.Stderr, "triplemesh: %v; waiting for questions all the same\n", err)
	}
	conn, err := p.Dial(addr, targets[0], tel)
	if err != nil {
		return nil, errors.Join(err, endMesh(), endTelemetry())
	}
	return &Session{conn, inProcess, func() error { return errors.Join(conn.Close(), endMesh(), endTelemetry()) }}, nil
}

// withMesh calls do with a session with the orchestrator of a mesh.
func withMesh[R any](p *Program, f ServerFlags, do func(*Session) (R, error)) (result R, err error) {
	s, err := p.Connect(f.Server, f.Local, "orchestrator")
	if err != nil {
		return result, err
	}
	result, err = do(s)
	return result, errors.Join(err, s.Close())
}

// reachable probes the health of a server before the first call, so that an absent server is told
// from a failing one. One of several comma-separated addresses is enough. It returns the address: if
// addr is empty, that of the service in the configuration.
func (p *Program) reachable(addr, name string) (string, error) {
	if addr == "" {
		plan, err := mesh.ReadPlan(mesh.Options{Home: p.Home, Targets: []string{name}, Sources: p.Sources})
		if err != nil {
			return "", ExitError{ExitUsage, err}
		}
		addr = plan.Addr(name)
	}
	ctx, cancel := context.WithTimeout(p.Ctx, probeTimeout)
	defer cancel()
	secure, err := p.Access.credentials(name)
	if err != nil {
		return addr, p.unreachable(addr, name, err)
	}
	all := strings.Split(addr, ",")
	said := make(chan error, len(all))
	for _, one := range all {
		go func() { said <- mesh.Serving(ctx, strings.TrimSpace(one), secure) }()
	}
	for range all {
		if err = <-said; err == nil {
			return addr, nil
		}
	}
	return addr, p.unreachable(all[0], name, err)
}

// runLocal runs services at free loopback ports until the returned function is called.
func (p *Program) runLocal(targets []string,
	substitute llm.Substitute) (m *mesh.Mesh, end func() error, err error) {
	// The local mesh needs no credentials, and no other process is called.
	p.Access = AccessFlags{}
	return p.RunMesh(mesh.Options{
		Home: p.Home, Targets: targets, Sources: p.Sources, Private: true, Trusting: true, LogLevel: "error",
		Log: p.Stderr, Substitute: substitute,
	})
}

// RunMesh runs a mesh in this process until the returned function is called.
func (p *Program) RunMesh(o mesh.Options) (m *mesh.Mesh, end func() error, err error) {
	line := p.StatusLine()
	defer line.Clear()
	o.Tell = func(s string) { line.Set("%s", s) }
	m, err = mesh.New(o)
	if err != nil {
		return nil, nil, ExitError{ExitUsage, err}
	}
	ctx, cancel := context.WithCancel(p.Ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- m.Run(ctx, func() { close(ready) }) }()
	select {
	case err := <-ended:
		cancel()
		if err == nil {
			err = context.Cause(ctx)
		}
		return nil, nil, err
	case <-ready:
	}
	return m, func() error { cancel(); return <-ended }, nil
}

const (
	maxReconnects = 2
	// reconnectDelay is the linear backoff between two attempts.
	reconnectDelay = 200 * time.Millisecond
)

// consumeStream passes the events of a stream to see until see reports done; io.EOF means that the
// stream ended before. If the connection is lost in the middle, it calls again and restarts the
// stream, on another replica if one is connected, at most maxReconnects times.
func consumeStream[E any](ask func() (grpc.ServerStreamingClient[E], error), see func(*E) (done bool, err error),
	again func()) error {
	for lost := 0; ; {
		stream, err := ask()
		if err != nil {
			return err
		}
		begun := false
		for err == nil {
			var event *E
			if event, err = stream.Recv(); err != nil {
				break
			}
			begun = true
			done, err := see(event)
			if done || err != nil {
				return err
			}
		}
		if lost == maxReconnects || !begun || err == io.EOF || !client.IsLost(err) {
			return err
		}
		lost++
		time.Sleep(time.Duration(lost) * reconnectDelay)
		again()
	}
}

// chunkBytes is the chunk size of a message; the API allows 1 MiB.
const chunkBytes = 256 << 10

// sendChunks sends what it reads. An error of reading begins with what was read. That of send is
// io.EOF if the server ended the stream, whose own error comes with the response.
func sendChunks(what string, in io.Reader, send func([]byte) error) error {
	for {
		chunk := make([]byte, chunkBytes) // a queued message keeps its buffer
		n, err := io.ReadFull(in, chunk)
		if n > 0 {
			if err := send(chunk[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// receive takes the messages of a stream until the server ends it.
func receive[M any](stream grpc.ServerStreamingClient[M], take func(*M) error) error {
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(message)
		}
		if err != nil {
			return err
		}
	}
}

// advice returns the error text for the user: a gRPC error without its wrapping, followed by what
// to do next unless its message already says so.
func advice(err error) string {
	// Not status.FromError, which puts the text of every wrapper around the message.
	var answer interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answer) || answer.GRPCStatus().Code() == codes.Unknown {
		return err.Error()
	}
	st := answer.GRPCStatus()
	text := strings.TrimSpace(st.Message())
	for _, d := range st.Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				if strings.Contains(text, v.GetDescription()) {
					continue
				}
				text += fmt.Sprintf("\n  %s: %s", v.GetField(), v.GetDescription())
			}
		}
	}
	text = addSuggestion(text)
	if reason := errorReason(st); strings.HasPrefix(reason, "MODEL_") {
		return text + "\n`triplemesh doctor` lists the models and capabilities of the endpoint"
	}
	if st.Code() == codes.DataLoss && strings.HasPrefix(text, "import ") {
		return text + "\nthe file is corrupt; copy it or ` triplemesh kg export` it again"
	}
	if strings.Contains(text, "by encoder") {
		return text + "\n`triplemesh doctor` shows which knowledge graphs the encoder fits"
	}
	if todo := next(st.Code()); todo != "" && !strings.Contains(text, "triplemesh ") {
		text += "\n" + todo
	}
	return text
}

// unknown matches the services' error for a missing name, which lists the existing ones.
var unknown = regexp.MustCompile(`there is no [a-z ]+ "([^"\n]+)"; there are: ([^\n]+)`)

// addSuggestion appends the most similar existing name.
func addSuggestion(text string) string {
	m := unknown.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	return text + didYouMean(m[1], strings.Split(m[2], ", "))
}

// reasonOf returns the machine-readable reason of an error; empty if there is none.
func errorReason(st *status.Status) string {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// next returns what the user can do about a status code.
func next(c codes.Code) string {
	switch c {
	case codes.NotFound:
		return "`triplemesh kg list` shows what there is; `triplemesh kg load NAME FILE` loads a knowledge graph"
	case codes.FailedPrecondition:
		return "`triplemesh kg list` shows which snapshots there are; `triplemesh kg activate NAME@N` makes one active"
	case codes.Unavailable:
		return "`triplemesh doctor` shows which service is unreachable"
	case codes.ResourceExhausted:
		return "raise the budget (--max-calls, --max-tokens), or retry when the services are less loaded"
	case codes.DeadlineExceeded:
		return "raise --timeout"
	case codes.DataLoss:
		return "the snapshot is corrupt; `triplemesh kg rollback NAME` activates the previous one, `triplemesh kg " +
			"load` rebuilds it"
	case codes.Unimplemented:
		return "the server has another version or is another service; `triplemesh doctor` shows what listens where"
	case codes.Internal:
		return "this is a bug in triplemesh; please report it with the log of `triplemesh up`"
	}
	return ""
}
