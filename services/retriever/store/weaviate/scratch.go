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
	dir, lock, err := claim(below)
	if err != nil {
		return "", nil, fmt.Errorf("make room for a load: %w", err)
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// claim does so while nobody else does: a directory that is made and not locked
// yet would be taken for one that was left.
func claim(below string) (dir string, lock *os.File, err error) {
	if err = os.MkdirAll(below, 0o700); err != nil {
		return "", nil, err
	}
	turn, err := os.Open(below)
	if err != nil {
		return "", nil, err
	}
	defer turn.Close()
	if err = unix.Flock(int(turn.Fd()), unix.LOCK_EX); err != nil {
		return "", nil, err
	}
	if err = sweep(below); err != nil {
		return "", nil, fmt.Errorf("remove what a load left: %w", err)
	}
	if dir, err = os.MkdirTemp(below, "load-"); err != nil {
		return "", nil, err
	}
	lock, err = os.Create(filepath.Join(dir, lockFile))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return "", nil, errors.Join(err, lock.Close(), os.RemoveAll(dir))
	}
	return dir, lock, nil
}

// sweep removes the scratch directories that nobody uses.
func sweep(below string) error {
	entries, err := os.ReadDir(below)
	if err != nil {
		return err
	}
	for _, e := range entries {
		left := filepath.Join(below, e.Name())
		lock, err := locked(left)
		if err != nil {
			continue // somebody uses it
		}
		if err := errors.Join(os.RemoveAll(left), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// locked locks a scratch directory that nobody uses.
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
