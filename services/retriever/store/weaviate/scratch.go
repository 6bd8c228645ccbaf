package weaviate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockFile is held locked in a scratch directory for as long as it is in use.
const lockFile = ".lock"

// scratch makes a directory below another, and removes those there that a
// killed process left.
func scratch(below string) (dir string, remove func() error, err error) {
	if err := os.MkdirAll(below, 0o700); err != nil {
		return "", nil, fmt.Errorf("make room for a load: %w", err)
	}
	entries, err := os.ReadDir(below)
	if err != nil {
		return "", nil, fmt.Errorf("make room for a load: %w", err)
	}
	for _, e := range entries {
		left := filepath.Join(below, e.Name())
		if lock, err := locked(left); err == nil {
			if err := errors.Join(os.RemoveAll(left), lock.Close()); err != nil {
				return "", nil, fmt.Errorf("remove what a load left: %w", err)
			}
		}
	}
	if dir, err = os.MkdirTemp(below, "load-"); err != nil {
		return "", nil, fmt.Errorf("make room for a load: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, lockFile))
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("make room for a load: %w", err), os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), f.Close()) }, nil
}

// locked locks a scratch directory that nobody uses. One that is just being
// made has no lock yet, and is left alone.
func locked(dir string) (*os.File, error) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
