package setup

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// stamp remembers that a file was read whole and had the right sum, so that
// the next run need only look at its size and time.
type stamp struct {
	SHA256  string `json:"sha256"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time_ns"`
}

func stampPath(path string) string { return path + ".verified" }

// verified reports whether path is known to have the sum. Where no stamp says
// so, or again is set, the file is read and a stamp written.
func verified(path, sum string, size int64, again bool) (bool, error) {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Size() != size {
		return false, nil
	}
	now := stamp{SHA256: sum, Size: size, ModTime: info.ModTime().UnixNano()}
	var then stamp
	if !again && readInto(stampPath(path), &then) && then == now {
		return true, nil
	}
	got, err := fileSum(path)
	if err != nil || got != sum {
		return false, err
	}
	return true, writeJSON(stampPath(path), now)
}

// readInto reports whether path holds JSON that fits v.
func readInto(path string, v any) bool {
	b, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(b, v) == nil
}

// writeJSON replaces path whole or not at all.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(tmp, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", tmp, err)
	}
	return os.Rename(tmp, path)
}
