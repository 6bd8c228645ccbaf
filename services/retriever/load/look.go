package load

import (
	"context"
	"errors"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// Look reads a file until it has seen most statements, and loads nothing. It
// returns how many it saw, and the first place that holds none: a file with
// some of both can be loaded. format may be ByName.
func Look(ctx context.Context, name string, format Format, r io.Reader, most int) (statements int, bad *LineError, err error) {
	f := file{identity: identity{Name: name}, format: format}
	if err := f.known(); err != nil {
		return 0, nil, err
	}
	plain, err := source.Unpack(name, r)
	if err != nil {
		return 0, nil, err
	}
	defer plain.Close()
	seen, rejected := looking{most: most}, 0
	_, err = f.read(ctx, source.Input{Name: name, Reader: plain, Number: 1, Bad: func(e *LineError) error {
		if bad == nil {
			bad = e
		}
		if rejected++; rejected == most {
			return errSeen
		}
		return nil
	}}, &seen)
	if errors.Is(err, errSeen) {
		err = nil
	}
	return seen.statements, bad, err
}

// errSeen ends the reading of a file that enough was seen of.
var errSeen = errors.New("enough was seen")

// looking counts statements up to a number.
type looking struct{ statements, most int }

// Statement implements source.Sink.
func (l *looking) Statement(source.Statement) error {
	if l.statements++; l.statements == l.most {
		return errSeen
	}
	return nil
}

// Label implements source.Sink.
func (*looking) Label(string, string, int) error { return nil }

// Alias implements source.Sink.
func (*looking) Alias(string, string) error { return nil }
