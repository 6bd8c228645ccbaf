package llm

import "sync"

// flights are the questions being asked right now, by cache key.
type flights struct {
	mu    sync.Mutex
	byKey map[string]*flight
}

// flight is one question; resp and err are set once done is closed.
type flight struct {
	done chan struct{}
	resp Response
	err  error
}

// join returns the flight of a key, and true to whoever has to fly it.
func (f *flights) join(key string) (*flight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl, ok := f.byKey[key]; ok {
		return fl, false
	}
	if f.byKey == nil {
		f.byKey = make(map[string]*flight)
	}
	fl := &flight{done: make(chan struct{})}
	f.byKey[key] = fl
	return fl, true
}

// land ends a flight and tells all who joined it.
func (f *flights) land(key string, fl *flight, resp Response, err error) {
	f.mu.Lock()
	delete(f.byKey, key)
	f.mu.Unlock()
	fl.resp, fl.err = resp, err
	close(fl.done)
}
