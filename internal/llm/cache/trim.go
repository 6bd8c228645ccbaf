package cache

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// shards are the directories of the first level, each of which is bounded
// alone: SHA-256 fills them evenly.
const shards = 256

// halfWritten is how old a file is that is still being written, at most.
const halfWritten = time.Hour

// shard counts the bytes of one directory. Those that other processes write
// are found when it is looked through.
type shard struct {
	mu      sync.Mutex
	counted bool
	bytes   int64
}

// wrote counts a file and makes room where there are too many.
func (s *shard) wrote(dir string, bytes, most int64) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes += bytes; s.counted && s.bytes <= most {
		return nil
	}
	s.bytes, err = trim(dir, most, time.Now())
	s.counted = err == nil
	return err
}

type file struct {
	path  string
	bytes int64
	at    time.Time
}

// trim removes the oldest files of a directory where all have more bytes than
// they may, down to three quarters of that, and returns what is left. What
// another process removes meanwhile is removed.
func trim(dir string, most int64, now time.Time) (bytes int64, err error) {
	var files []file
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return gone(err)
		}
		info, err := d.Info()
		if err != nil {
			return gone(err)
		}
		if strings.HasPrefix(d.Name(), ".new-") {
			if now.Sub(info.ModTime()) > halfWritten {
				return gone(os.Remove(path))
			}
			return nil
		}
		files = append(files, file{path, info.Size(), info.ModTime()})
		bytes += info.Size()
		return nil
	})
	if err != nil || bytes <= most {
		return bytes, err
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	for _, f := range files {
		if bytes <= most/4*3 {
			break
		}
		if err := gone(os.Remove(f.path)); err != nil {
			return bytes, err
		}
		bytes -= f.bytes
	}
	return bytes, nil
}

// gone lets pass what is not there any more.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
