package embedded

import (
	"errors"
	"sync"
)

// entry is a snapshot that is mapped or about to be: whoever comes second
// waits for the first.
type entry struct {
	mutex     sync.Mutex
	forgotten bool
	layer     *layer
}

// entry is the one of a snapshot, made where there is none.
func (s *Store) entry(kg string, number uint64) *entry {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e, ok := s.opened[name{kg, number}]
	if !ok {
		e = &entry{}
		s.opened[name{kg, number}] = e
	}
	return e
}

// errForgotten says that an entry left the store after it was looked up.
var errForgotten = errors.New("snapshot was let go")

// use returns the layer with one more user; it maps the files where that was
// not yet done or where they changed since.
func (e *entry) use(dir string) (*layer, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.forgotten {
		return nil, errForgotten
	}
	if e.layer != nil && e.layer.mapping.touched() {
		e.layer.mapping.release()
		e.layer = nil
	}
	if e.layer == nil {
		m, err := mapFiles(dir)
		if err != nil {
			return nil, err
		}
		l, err := m.view()
		if err != nil {
			m.release()
			return nil, err
		}
		e.layer = l
	}
	// The entry's own use keeps the mapping alive under its lock.
	e.layer.mapping.retain()
	return e.layer, nil
}

func (e *entry) forget() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.forgotten = true
	if e.layer != nil {
		e.layer.mapping.release()
		e.layer = nil
	}
}
