// Package sparql reads statements from a SPARQL 1.1 endpoint. It runs where its
// user is: credentials go to the endpoint and nowhere else.
package sparql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

// Config says what to read and how.
type Config struct {
	// Endpoint is the URL that takes queries.
	Endpoint string
	// User and Password are for HTTP's basic authentication; may be empty.
	User, Password string
	// Graph is the IRI of the graph to read; empty means the default graph.
	Graph string
	// Where is a graph pattern that binds ?s, ?p and ?o; empty means all statements.
	Where string
	// Page is the number of statements per query, in order; 0 means 10,000.
	// Blank nodes hold together only within a page.
	Page int
	// Timeout bounds one query with its answer, 0 means five minutes; MaxBytes
	// its answer, 0 means 1 GiB.
	Timeout  time.Duration
	MaxBytes int64
	// Attempts is how often a query is sent before its failure counts; 0 means five.
	Attempts int
	// Language is that of labels; empty means "en".
	Language string
	// Bad receives statements that cannot be taken; an error of it ends the
	// reading. Without it the first one does.
	Bad func(error) error
	// Client sends the queries; nil means one of its own.
	Client *http.Client
}

func (c Config) withDefaults() Config {
	c.Where = cmp.Or(c.Where, "?s ?p ?o")
	if c.Page <= 0 {
		c.Page = 10_000
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Minute
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 1 << 30
	}
	if c.Attempts <= 0 {
		c.Attempts = 5
	}
	if c.Bad == nil {
		c.Bad = func(err error) error { return err }
	}
	c.Client = cmp.Or(c.Client, &http.Client{})
	return c
}

// Copy writes what an endpoint holds as N-Triples, with all languages of its
// texts, and returns the number of statements.
func Copy(ctx context.Context, c Config, to io.Writer) (uint64, error) {
	w := rdf.NewWriter(to)
	n, err := readPages(ctx, c, func(q rdf.Quad) (bad, err error) { return nil, w.WriteQuad(q) })
	if err == nil {
		err = w.Flush()
	}
	return n, err
}

// checkQuad refuses what no RDF has: endpoints are laxer with IRIs than files.
func checkQuad(q rdf.Quad) error {
	if q.Subject.Kind == rdf.Literal || q.Predicate.Kind != rdf.IRI {
		return errors.New("its subject is a literal, or its predicate no IRI")
	}
	iris := []string{q.Predicate.Text}
	for _, t := range []rdf.Term{q.Subject, q.Object} {
		switch {
		case t.Kind == rdf.IRI:
			iris = append(iris, t.Text)
		case t.Kind == rdf.Blank && t.Text == "":
			return errors.New("a blank node has no label")
		case t.Datatype != "":
			iris = append(iris, t.Datatype)
		}
	}
	for _, iri := range iris {
		if err := rdf.CheckIRI(iri); err != nil {
			return err
		}
	}
	return nil
}

// readPages asks for one page after another until one is empty; an endpoint may give
// less than a page.
func readPages(ctx context.Context, c Config, take func(rdf.Quad) (bad, err error)) (count uint64, err error) {
	c = c.withDefaults()
	if c.Graph != "" {
		if err := rdf.CheckIRI(c.Graph); err != nil {
			return 0, c.wrapError(fmt.Errorf("the graph %w", err))
		}
	}
	var before rdf.Quad // the first statement of the page before
	for page := 1; ; page++ {
		var rows uint64
		var first rdf.Quad
		err := c.retry(ctx, func(ctx context.Context) (err error) {
			rows, err = c.fetchPage(ctx, count, func(row uint64, q rdf.Quad) error {
				if first == (rdf.Quad{}) {
					// Pages without end come from an endpoint that leaves the offset aside.
					if first = q; page > 1 && q == before && q.Subject.Kind != rdf.Blank {
						return sinkError{c.wrapError(fmt.Errorf("page %d begins with the same statement as the one "+
							"before: it does not obey OFFSET; ask it for a part at a time by a graph pattern", page))}
					}
				}
				bad := checkQuad(q)
				var err error
				if bad == nil {
					bad, err = take(scopeBlankNodes(q, page))
				}
				if bad != nil {
					err = c.Bad(c.wrapError(fmt.Errorf("statement %d: %w", count+row, bad)))
				}
				if err != nil {
					return sinkError{err}
				}
				return nil
			})
			return err
		})
		if sink, ok := errors.AsType[sinkError](err); ok {
			return count, sink.error
		}
		if err != nil {
			return count, c.wrapError(err)
		}
		if rows == 0 {
			return count, nil
		}
		count += rows
		before = first
	}
}

// sinkError is an error that is not a fault of the endpoint's.
type sinkError struct{ error }

// scopeBlankNodes gives the blank nodes of each page labels of their own: endpoints
// use the same again for others.
func scopeBlankNodes(q rdf.Quad, page int) rdf.Quad {
	for _, t := range []*rdf.Term{&q.Subject, &q.Object} {
		if t.Kind == rdf.Blank {
			t.Text = "p" + strconv.Itoa(page) + "." + t.Text
		}
	}
	return q
}

// wrapError says which endpoint an error is from, without its password.
func (c Config) wrapError(err error) error {
	shown := "?"
	if u, bad := url.Parse(c.Endpoint); bad == nil {
		shown = u.Scheme + "://" + u.Host + u.Path
	}
	// Errors of HTTP name the URL whole.
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("read SPARQL endpoint %s: %w", shown, err)
}

func (c Config) pageQuery(offset uint64) string {
	var b strings.Builder
	b.WriteString("SELECT ?s ?p ?o ")
	if c.Graph != "" {
		b.WriteString("FROM <" + c.Graph + "> ")
	}
	fmt.Fprintf(&b, "WHERE { %s } ORDER BY ?s ?p ?o LIMIT %d OFFSET %d", c.Where, c.Page, offset)
	return b.String()
}
