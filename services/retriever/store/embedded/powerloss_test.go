package embedded

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var errPower = errors.New("the power is off")

// inode tells files and directories apart whatever they are called.
type inode uint64

// powerDisk is a disk whose power fails after some operations. It keeps what is
// sure to have survived by then: of a file what was synced, of a directory the
// names that were in it when it was synced. All else may have reached the disk
// or not (as a file system without ordering may have it).
type powerDisk struct {
	osDisk
	root string
	left int // operations until the power fails

	content map[inode][]byte           // of files, as they were last synced
	names   map[inode]map[string]inode // in directories, as they were last synced
	dirs    map[inode]bool
	// open keeps inodes from being used again.
	open []*os.File
}

// withPower runs on a disk of its own.
func withPower(t *testing.T, operations int, run func(*powerDisk)) {
	t.Helper()
	inTempDir(t, func(root string) {
		d := &powerDisk{
			root: root, left: operations,
			content: map[inode][]byte{}, names: map[inode]map[string]inode{}, dirs: map[inode]bool{},
		}
		run(d)
		for _, f := range d.open {
			_ = f.Close()
		}
	})
}

// inTempDir uses a directory that is removed at once: there will be thousands.
func inTempDir(t *testing.T, use func(dir string)) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	use(dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

func (d *powerDisk) store() *Store {
	s := New(filepath.Join(d.root, "data", "kg"))
	s.disk = d
	return s
}

func (d *powerDisk) step() error {
	if d.left--; d.left < 0 {
		return errPower
	}
	return nil
}

// keep finds out which inode has a path, and lets nothing else have it.
func (d *powerDisk) keep(path string) inode {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	n := inode(info.Sys().(*syscall.Stat_t).Ino)
	if _, known := d.dirs[n]; known {
		return n
	}
	if f, err := os.Open(path); err == nil {
		d.open = append(d.open, f)
	}
	d.dirs[n] = info.IsDir()
	return n
}

func (d *powerDisk) list(path string) map[string]inode {
	entries, _ := os.ReadDir(path)
	names := map[string]inode{}
	for _, e := range entries {
		names[e.Name()] = d.keep(filepath.Join(path, e.Name()))
	}
	return names
}

func (d *powerDisk) MkdirAll(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.MkdirAll(path)
}

func (d *powerDisk) Create(path string) (file, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.osDisk.Create(path)
	return &powerFile{file: f, disk: d, path: path, inode: d.keep(path)}, err
}

func (d *powerDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.Rename(from, to)
}

func (d *powerDisk) RemoveAll(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.RemoveAll(path)
}

func (d *powerDisk) SyncDir(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.names[d.keep(path)] = d.list(path)
	return nil
}

type powerFile struct {
	file
	disk  *powerDisk
	path  string
	inode inode
}

func (f *powerFile) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		if f.disk.left == -1 { // torn
			_, _ = f.file.Write(p[:len(p)/2])
		}
		return 0, err
	}
	return f.file.Write(p)
}

func (f *powerFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	content, err := os.ReadFile(f.path)
	f.disk.content[f.inode] = content
	return err
}

// checkAfterPowerCut writes to a directory what may be found on the disk when the power is
// back.
func (d *powerDisk) checkAfterPowerCut(t *testing.T, random *rand.Rand, found string) {
	t.Helper()
	now := map[inode]string{}
	if err := filepath.WalkDir(d.root, func(path string, _ os.DirEntry, err error) error {
		now[d.keep(path)] = path
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.restore(t, random, d.keep(d.root), found, now)
}

func (d *powerDisk) restore(t *testing.T, random *rand.Rand, dir inode, to string, now map[inode]string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	names := maps.Clone(d.names[dir])
	if names == nil {
		names = map[string]inode{}
	}
	if path, ok := now[dir]; ok {
		last := d.list(path)
		for _, name := range slices.Sorted(maps.Keys(union(names, last))) {
			if random.IntN(2) == 0 {
				continue
			}
			if n, ok := last[name]; ok {
				names[name] = n
			} else {
				delete(names, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n, path := names[name], filepath.Join(to, name)
		if d.dirs[n] {
			d.restore(t, random, n, path, now)
			continue
		}
		if err := os.WriteFile(path, d.survived(random, n, now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// survived is what of a file is on the disk: what was synced, some of what was
// written since, some of that as zeros.
func (d *powerDisk) survived(random *rand.Rand, n inode, now map[inode]string) []byte {
	content := slices.Clone(d.content[n])
	last, err := os.ReadFile(now[n])
	if err != nil || len(last) <= len(content) {
		return content
	}
	more := last[len(content):][:random.IntN(len(last)-len(content)+1)]
	if random.IntN(3) == 0 {
		clear(more[len(more)/2:])
	}
	return append(content, more...)
}

func union(a, b map[string]inode) map[string]inode {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// history is what is done until the power fails: acknowledged is the snapshot
// whose activation was, and begun the last one that was to be activated.
func history(t *testing.T, s *Store, dumps map[uint64]string) (acknowledged, begun uint64) {
	t.Helper()
	world := storetest.World()
	for number := uint64(1); number <= 3; number++ {
		facts := world[:2+number]
		begun = number
		if _, err := s.Write(t.Context(), "world", storetest.Content(t, facts)); err != nil {
			return acknowledged, begun
		}
		if _, err := s.Activate(t.Context(), "world", number); err != nil {
			return acknowledged, begun
		}
		acknowledged = number
		if _, ok := dumps[number]; !ok {
			_, dump, err := look(t, s, number)
			if err != nil {
				t.Fatal(err)
			}
			dumps[number] = dump
		}
	}
	if _, err := s.Drop(t.Context(), "world", 1); err != nil {
		return acknowledged, begun
	}
	begun = 2
	if _, err := s.Rollback(t.Context(), "world"); err != nil {
		return acknowledged, begun
	}
	return 2, 2
}

// TestAcknowledgedWritesSurviveAPowerCut lets the power fail after each
// operation of loads, activations, a drop and a rollback, and looks at several
// of the states in which the disk may be then.
func TestAcknowledgedWritesSurviveAPowerCut(t *testing.T) {
	const states = 2
	dumps := map[uint64]string{}
	var operations int
	withPower(t, 1<<30, func(d *powerDisk) {
		s := d.store()
		defer s.Close()
		history(t, s, dumps)
		operations = 1<<30 - d.left
	})
	for at := range operations {
		withPower(t, at, func(d *powerDisk) {
			s := d.store()
			acknowledged, begun := history(t, s, dumps)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for state := range states {
				inTempDir(t, func(found string) {
					d.checkAfterPowerCut(t, rand.New(rand.NewPCG(uint64(at), uint64(state))), found)
					if err := survives(t, filepath.Join(found, "data", "kg"), dumps, acknowledged, begun); err != nil {
						t.Errorf("the power fails at operation %d of %d, state %d, when %d was acknowledged and %d "+
							"begun: %v",
							at, operations, state, acknowledged, begun, err)
					}
				})
			}
		})
	}
	testkit.Measured(t, "power failed at each of %d operations, %d states of the disk each: 0 lost, 0 served wrongly",
		operations, states)
}

// survives checks a directory as it was found when the power was back.
func survives(t *testing.T, dir string, dumps map[uint64]string, acknowledged, begun uint64) error {
	t.Helper()
	s := New(dir)
	s.disk = unsynced{}
	defer s.Close()
	active, dump, err := look(t, s, 0)
	switch {
	case acknowledged == 0 && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNoActive)):
	case err != nil:
		return fmt.Errorf("open the active snapshot: %w", err)
	case active != acknowledged && active != begun:
		return fmt.Errorf("%d is active", active)
	case dump != dumps[active]:
		return fmt.Errorf("snapshot %d is another", active)
	}
	for number := range dumps {
		if _, dump, err := look(t, s, number); err == nil && dump != dumps[number] {
			return fmt.Errorf("snapshot %d is served, and wrong", number)
		} else if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrCorrupt) {
			return fmt.Errorf("snapshot %d: %w", number, err)
		}
	}
	info, err := s.Write(t.Context(), "world", storetest.Content(t, storetest.World()))
	if err == nil {
		_, err = s.Activate(t.Context(), "world", info.Number)
	}
	if err != nil {
		return fmt.Errorf("load again: %w", err)
	}
	if _, _, err := look(t, s, 0); err != nil {
		return fmt.Errorf("open what was loaded again: %w", err)
	}
	return nil
}

func look(t *testing.T, s *Store, number uint64) (uint64, string, error) {
	t.Helper()
	snapshot, err := s.Open(t.Context(), "world", number)
	if err != nil {
		return 0, "", err
	}
	defer snapshot.Release()
	dump, err := storetest.Dump(t.Context(), snapshot)
	return snapshot.Info().Number, dump, err
}
