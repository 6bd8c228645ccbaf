package embedded

import (
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// maxListed bounds how many manifests are remembered.
const maxListed = 1 << 12

// manifests remembers what manifests say, as each question lists its knowledge
// graph to know which snapshot is active.
type manifests struct {
	mu   sync.Mutex
	seen map[string]listedManifest
}

type listedManifest struct {
	stamp stamp
	info  store.Info
}

// info is what the manifest in a directory says. It is read where it changed
// since it was read last.
func (m *manifests) info(dir string) (store.Info, error) {
	var now unix.Stat_t
	if err := unix.Stat(filepath.Join(dir, manifestName), &now); err != nil {
		return store.Info{}, err
	}
	current := stampOf(&now)
	m.mu.Lock()
	known, ok := m.seen[dir]
	m.mu.Unlock()
	if ok && known.stamp == current {
		return known.info, nil
	}
	read, _, err := readManifest(dir)
	if err != nil {
		return store.Info{}, err
	}
	known = listedManifest{current, read.info()}
	m.mu.Lock()
	defer m.mu.Unlock()
	// Those of snapshots that were dropped go too.
	if m.seen == nil || len(m.seen) >= maxListed {
		m.seen = map[string]listedManifest{}
	}
	m.seen[dir] = known
	return known.info, nil
}
