package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// trim removes the oldest runs where there are more than are kept. It looks at
// names only, and not with every run: of 10,000 kept, with every hundredth.
//
// Orchestrators that share the directory may trim it at the same time. Each
// removes only runs than which it saw as many newer ones as are kept, so that
// together they never remove one too many; what another removed first is
// removed.
func (f folder) trim() error {
	if f.dir.keep == 0 || !f.due() {
		return nil
	}
	days, err := f.days()
	if err != nil {
		return err
	}
	left := f.dir.keep
	for _, day := range slices.Backward(days) {
		ids, err := f.ids(day)
		if err != nil {
			return err
		}
		if left > 0 && len(ids) <= left {
			left -= len(ids)
			continue
		}
		for _, id := range ids[:len(ids)-left] {
			if err := remove(filepath.Join(f.path, day, id+suffix)); err != nil {
				return err
			}
		}
		if left == 0 {
			f.removeDay(day)
		}
		left = 0
	}
	return nil
}

// due says whether it is time to trim, and begins to count anew.
func (f folder) due() bool {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	n, begun := f.dir.untrimmed[f.path]
	n++
	if begun && n < max(1, f.dir.keep/100) {
		f.dir.untrimmed[f.path] = n
		return false
	}
	f.dir.untrimmed[f.path] = 0
	return true
}

// half is how old a file is that is still being written, at most.
const half = time.Hour

// removeDay removes a day whose runs are gone, with what a killed process left
// half written there. A run that another orchestrator is about to keep in it
// keeps the directory.
func (f folder) removeDay(day string) {
	path := filepath.Join(f.path, day)
	entries, _ := os.ReadDir(path)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") || !strings.Contains(entry.Name(), suffix+".part-") {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > half {
			_ = remove(filepath.Join(path, entry.Name()))
		}
	}
	_ = os.Remove(path)
}

// remove removes a file, by this process or another.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
