package load

import (
	"bytes"
	"context"
	"io"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/extsort"
)

// nodeReader returns entries of nodes in the order of their names.
type nodeReader interface {
	// Next returns io.EOF after the last one; the entry is valid until the next call.
	Next() (entry []byte, value uint64, err error)
}

// splitEntry splits an entry; a node whose name needs no disambiguation has no key.
func splitEntry(entry []byte) (name, key []byte) {
	name, key, _ = bytes.Cut(entry, []byte{0})
	return name, key
}

// sharedNameFilter leaves out the nodes that share a name and passes them to onShared. A node whose
// name is its own key is the same node as those that are given that name as their label.
type sharedNameFilter struct {
	from     nodeReader
	onShared func(name, key []byte, value uint64) error
	// candidate is a node that the next one may share its name with.
	candidate      []byte
	candidateValue uint64
	hasCandidate   bool
	// name is the last name that was shared.
	name []byte
	// unread is the entry that was read to decide about the candidate.
	unread      []byte
	unreadValue uint64
}

// Next implements nodeReader.
func (f *sharedNameFilter) Next() ([]byte, uint64, error) {
	for {
		entry, value := f.unread, f.unreadValue
		f.unread = nil
		if entry == nil {
			var err error
			if entry, value, err = f.from.Next(); err == io.EOF && f.hasCandidate {
				f.hasCandidate = false
				return f.candidate, f.candidateValue, nil
			} else if err != nil {
				return nil, 0, err
			}
		}
		name, key := splitEntry(entry)
		if f.hasCandidate {
			f.hasCandidate = false
			candidateName, candidateKey := splitEntry(f.candidate)
			if key == nil || !bytes.Equal(name, candidateName) {
				f.unread, f.unreadValue = entry, value
				return f.candidate, f.candidateValue, nil
			}
			f.name = append(f.name[:0], name...)
			if err := f.onShared(candidateName, candidateKey, f.candidateValue); err != nil {
				return nil, 0, err
			}
		}
		switch {
		case key == nil:
			return entry, value, nil
		case bytes.Equal(name, f.name):
			if err := f.onShared(name, key, value); err != nil {
				return nil, 0, err
			}
		default:
			f.candidate, f.candidateValue, f.hasCandidate = append(f.candidate[:0], entry...), value, true
		}
	}
}

// disambiguators are the parts of a key that are added to a name that several nodes share: first
// the local name, and the whole key if names are still shared.
var disambiguators = []func(key string) string{kgtext.LocalName, func(key string) string { return key }}

// distinctNames gives nodes that share a name names of their own. resolve is called once, then
// reader any number of times.
type distinctNames struct {
	nodes   *extsort.Strings
	options extsort.Options
	// renamed holds, by disambiguator, the nodes under their new names.
	renamed []*extsort.Strings
}

// resolve finds the nodes that share a name. onRename is called with each, and the name it loses.
func (d *distinctNames) resolve(ctx context.Context, onRename func(value uint64, name []byte) error) error {
	for round, disambiguator := range disambiguators {
		from, err := d.reader()
		if err != nil {
			return err
		}
		added := extsort.NewStrings(d.options)
		d.renamed = append(d.renamed, added)
		filter := &sharedNameFilter{from: from, onShared: func(name, key []byte, value uint64) error {
			if round == 0 {
				if err := onRename(value, name); err != nil {
					return err
				}
			}
			distinct := kgtext.Disambiguate(string(name), disambiguator(string(key)))
			return added.Add(nameEntry([]byte(distinct), key), value)
		}}
		for n := 0; ; n++ {
			if n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if _, _, err := filter.Next(); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
		}
		if added.Len() == 0 {
			return nil
		}
	}
	return nil
}

// reader returns all nodes in the order of their names.
func (d *distinctNames) reader() (nodeReader, error) {
	reader, err := d.nodes.Reader()
	if err != nil {
		return nil, err
	}
	var all nodeReader = reader
	for _, renamed := range d.renamed {
		added, err := renamed.Reader()
		if err != nil {
			return nil, err
		}
		unique := &sharedNameFilter{from: all, onShared: func([]byte, []byte, uint64) error { return nil }}
		if all, err = mergeNodes(unique, added); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// close removes the scratch files of the renamed nodes; nodes is its owner's.
func (d *distinctNames) close() {
	for _, s := range d.renamed {
		_ = s.Close() // Scratch files that remain go with the directory.
	}
}

// mergedNodes merges two sequences of names.
type mergedNodes struct {
	merge   *extsort.Merge[nodeEntry]
	started bool
}

type nodeEntry struct {
	entry []byte
	value uint64
}

func mergeNodes(readers ...nodeReader) (nodeReader, error) {
	sources := make([]extsort.Source[nodeEntry], len(readers))
	for i, from := range readers {
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
	return &mergedNodes{merge: merge}, err
}

func (b *mergedNodes) Next() ([]byte, uint64, error) {
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
