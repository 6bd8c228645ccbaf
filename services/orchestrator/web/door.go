package web

import (
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Door is one way in over HTTP.
type Door struct {
	// Pattern is what it takes, as http.ServeMux understands it: "/api/v1/".
	Pattern string
	// Handler answers. Calls that it makes with a request's context carry the
	// caller's token, address, trace and request id.
	Handler http.Handler
	// Files says that it serves files, which are neither traced nor measured.
	Files bool
	// Uploads says which requests bring a file, which may be larger than other
	// bodies; nil is none.
	Uploads func(*http.Request) bool
	// Endless says which requests last as long as their caller likes; nil is
	// none. Their contexts end when the server goes down.
	Endless func(*http.Request) bool
}

func (d Door) uploads(r *http.Request) bool { return d.Uploads != nil && d.Uploads(r) }

func (d Door) endless(r *http.Request) bool { return d.Endless != nil && d.Endless(r) }

// doors find a request's door.
type doors struct {
	mux *http.ServeMux
	by  map[string]Door
}

func newDoors(all []Door) doors {
	d := doors{mux: http.NewServeMux(), by: map[string]Door{}}
	for _, door := range all {
		d.mux.Handle(door.Pattern, door.Handler)
		d.by[door.Pattern] = door
	}
	return d
}

// of is the door of a request; the zero Door where there is none.
func (d doors) of(r *http.Request) Door {
	_, pattern := d.mux.Handler(r)
	return d.by[pattern]
}

// ServeHTTP implements http.Handler.
func (d doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if door := d.of(r); door.Pattern != "" {
		named(r, door.Pattern)
	}
	d.mux.ServeHTTP(w, r)
}

// named gives a request's span and measurements the pattern that it came by:
// paths have names in them, of which there is no end.
func named(r *http.Request, pattern string) {
	trace.SpanFromContext(r.Context()).SetName(r.Method + " " + pattern)
	if labels, ok := otelhttp.LabelerFromContext(r.Context()); ok {
		labels.Add(attribute.String("http.route", pattern))
	}
}
