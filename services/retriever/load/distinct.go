package load

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// named hands out entries of nodes in the order of their names.
type named interface {
	// Next returns io.EOF after the last one; the entry is valid until the next
	// call.
	Next() (entry []byte, value uint64, err error)
}

// split takes an entry apart; a node that is not told from others has no key.
func split(entry []byte) (name, key []byte) {
	name, key, _ = bytes.Cut(entry, []byte{0})
	return name, key
}

// apart leaves out the nodes that share a name and hands them to shared
// instead. A node whose name is its own key shares it with whoever is given
// that name: they are one.
type apart struct {
	from   named
	shared func(name, key []byte, value uint64) error
	// held is a node that the next one may share its name with.
	held      []byte
	heldValue uint64
	holds     bool
	// name is shared by those before.
	name []byte
	// again is what was read after the node that was handed out.
	again      []byte
	againValue uint64
}

func (a *apart) Next() ([]byte, uint64, error) {
	for {
		entry, value := a.again, a.againValue
		a.again = nil
		if entry == nil {
			var err error
			if entry, value, err = a.from.Next(); err == io.EOF && a.holds {
				a.holds = false
				return a.held, a.heldValue, nil
			} else if err != nil {
				return nil, 0, err
			}
		}
		name, key := split(entry)
		if a.holds {
			a.holds = false
			heldName, heldKey := split(a.held)
			if key == nil || !bytes.Equal(name, heldName) {
				a.again, a.againValue = entry, value
				return a.held, a.heldValue, nil
			}
			a.name = append(a.name[:0], name...)
			if err := a.shared(heldName, heldKey, a.heldValue); err != nil {
				return nil, 0, err
			}
		}
		switch {
		case key == nil:
			return entry, value, nil
		case bytes.Equal(name, a.name):
			if err := a.shared(name, key, value); err != nil {
				return nil, 0, err
			}
		default:
			a.held, a.heldValue, a.holds = append(a.held[:0], entry...), value, true
		}
	}
}

func ignore([]byte, []byte, uint64) error { return nil }

// details tell nodes of one name apart: by the last part of their keys, and
// where that does not do by the whole keys.
var details = []func(key []byte) []byte{localName, func(key []byte) []byte { return key }}

// distinct returns what hands out nodes by names that tell them apart. renamed
// is told of those that do not keep theirs.
func distinct(ctx context.Context, nodes *extsort.Strings, options extsort.Options, renamed func(value uint64, name []byte) error) (open func() (named, error), closing func(), err error) {
	var sorters []*extsort.Strings
	closing = func() {
		for _, s := range sorters {
			_ = s.Close() // What is left goes with the directory.
		}
	}
	open = func() (named, error) { return nodes.Reader() }
	for round, detail := range details {
		added := extsort.NewStrings(options)
		sorters = append(sorters, added)
		from, err := open()
		if err != nil {
			return nil, closing, err
		}
		all := &apart{from: from, shared: func(name, key []byte, value uint64) error {
			if round == 0 {
				if err := renamed(value, name); err != nil {
					return err
				}
			}
			return added.Add(nameEntry(fmt.Appendf(nil, "%s (%s)", name, detail(key)), key), value)
		}}
		for n := 0; ; n++ {
			if n%4096 == 0 && ctx.Err() != nil {
				return nil, closing, ctx.Err()
			}
			if _, _, err := all.Next(); err == io.EOF {
				break
			} else if err != nil {
				return nil, closing, err
			}
		}
		if added.Len() == 0 {
			break
		}
		before := open
		open = func() (named, error) {
			kept, err := before()
			if err != nil {
				return nil, err
			}
			more, err := added.Reader()
			if err != nil {
				return nil, err
			}
			return newBoth(&apart{from: kept, shared: ignore}, more)
		}
	}
	return open, closing, nil
}

// both merges two sequences of names.
type both struct {
	merge   *extsort.Merge[nodeEntry]
	started bool
}

type nodeEntry struct {
	entry []byte
	value uint64
}

func newBoth(of ...named) (named, error) {
	sources := make([]extsort.Source[nodeEntry], len(of))
	for i, from := range of {
		sources[i] = func(head *nodeEntry) (uint64, bool, error) {
			entry, value, err := from.Next()
			if err == io.EOF {
				return 0, false, nil
			}
			*head = nodeEntry{entry, value}
			return extsort.Prefix(entry), err == nil, err
		}
	}
	merge, err := extsort.NewMerge(sources, func(a, b *nodeEntry) int { return bytes.Compare(a.entry, b.entry) })
	return &both{merge: merge}, err
}

func (b *both) Next() ([]byte, uint64, error) {
	if b.started {
		if err := b.merge.Advance(); err != nil {
			return nil, 0, err
		}
	}
	top, _ := b.merge.Top()
	b.started = top != nil
	if top == nil {
		return nil, 0, io.EOF
	}
	return top.entry, top.value, nil
}

func localName(key []byte) []byte { return []byte(source.LocalName(string(key))) }
