package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// auditFile appends lines to a file, each by one write, so that services can share the file.
type auditFile struct {
	path string

	mu      sync.Mutex
	f       *os.File
	checked time.Time
	torn    bool // the last write may have been partial
}

func openAuditFile(path string) (*auditFile, error) {
	a := &auditFile{path: path}
	if err := a.open(); err != nil {
		return nil, fmt.Errorf("audit.file: %w; name a file that can be written", err)
	}
	return a, nil
}

func (a *auditFile) open() error {
	// The audit log is private to its owner.
	f, err := os.OpenFile(a.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	a.f, a.checked = f, time.Now()
	return nil
}

func (a *auditFile) write(line auditLine) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.reopenIfMoved(); err != nil {
		return err
	}
	if a.torn {
		data = append([]byte{'\n'}, data...)
	}
	n, err := a.f.Write(append(data, '\n'))
	a.torn = err != nil && (n > 0 || a.torn)
	return err
}

// reopenIfMoved reopens the file after log rotation. It checks once a second.
func (a *auditFile) reopenIfMoved() error {
	now := time.Now()
	if a.f != nil && now.Sub(a.checked) < time.Second {
		return nil
	}
	a.checked = now
	if a.f != nil {
		at, err := os.Stat(a.path)
		is, fileErr := a.f.Stat()
		if err == nil && fileErr == nil && os.SameFile(at, is) {
			return nil
		}
		if err := a.f.Close(); err != nil {
			a.f = nil
			return err
		}
		a.f, a.torn = nil, false
	}
	return a.open()
}

func (a *auditFile) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.f == nil {
		return nil
	}
	err := a.f.Close()
	a.f = nil
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
