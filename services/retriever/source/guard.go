package source

// Guarded is a Sink that remembers the error of the one behind it, so that a
// reader can tell it from a fault of its file.
type Guarded struct {
	to  Sink
	err error
}

// Guard returns a Sink that hands everything on.
func Guard(to Sink) *Guarded { return &Guarded{to: to} }

// Statement implements Sink.
func (g *Guarded) Statement(s Statement) error { return g.keep(g.to.Statement(s)) }

// Label implements Sink.
func (g *Guarded) Label(key, name string, rank int) error {
	return g.keep(g.to.Label(key, name, rank))
}

// Alias implements Sink.
func (g *Guarded) Alias(key, name string) error { return g.keep(g.to.Alias(key, name)) }

func (g *Guarded) keep(err error) error {
	if err != nil {
		g.err = err
	}
	return err
}

// Err is the last error of the sink behind it; nil where there was none.
func (g *Guarded) Err() error { return g.err }

// Reject makes err, where there is one, the fault of a line; an error of the
// sink ends the reading.
func (g *Guarded) Reject(in Input, line uint64, err error) error {
	if err == nil || g.err != nil {
		return g.err
	}
	return in.Reject(&PlaceError{File: in.Name, Line: line, Err: err})
}
