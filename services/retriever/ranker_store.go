package retriever

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/config"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// rankerStore keeps the rankers of tenants in a directory, whatever the store of their knowledge
// graphs is:
//
//	DIR/<tenant>/<kg>/<number>.ranker   a ranker, never changed
//	DIR/<tenant>/<kg>/CURRENT           which is active, which were before
//
// Several processes may share it. Files appear whole, by a rename or a link.
type rankerStore struct {
	dir string

	mutex sync.Mutex
	// loaded caches rankers and active what CURRENT says, by path; an entry counts while the file is the
	// same.
	loaded map[string]loadedRanker
	active map[string]loadedCurrent
}

// loadedRanker is a ranker or why it is none.
type loadedRanker struct {
	file   fs.FileInfo
	ranker *rank.Ranker
	err    error
}

// loadedCurrent is the content of a CURRENT.
type loadedCurrent struct {
	file    fs.FileInfo
	content currentRanker
}

// isSameFile reports whether a file is the one it was and was not written since.
func isSameFile(now, before fs.FileInfo) bool {
	return before != nil && os.SameFile(now, before) && now.Size() == before.Size() &&
		now.ModTime().Equal(before.ModTime())
}

func newRankerStore(dir string) *rankerStore {
	return &rankerStore{dir: dir, loaded: map[string]loadedRanker{}, active: map[string]loadedCurrent{}}
}

// rankerSet names the rankers of a knowledge graph.
type rankerSet struct {
	tenant auth.Tenant
	kg     string
}

const (
	rankerSuffix  = ".ranker"
	rankerCurrent = "CURRENT"
	// maxRankerBytes bounds a ranker's file: 40 times what one for the bundled encoder has.
	maxRankerBytes = 16 << 20
)

// currentRanker is the content of CURRENT.
type currentRanker struct {
	// Active is the ranker in use, 0 for none.
	Active uint64 `json:"active"`
	// Previous are those that were active before, oldest first.
	Previous []uint64 `json:"previous,omitempty"`
	// Sum is the checksum of the rest.
	Sum string `json:"sum"`
}

func (c currentRanker) sum() string {
	sum := sha256.Sum256(fmt.Append(nil, c.Active, c.Previous))
	return hex.EncodeToString(sum[:8])
}

// activate returns c with number active and the ranker before it in Previous.
func (c currentRanker) activate(number uint64) currentRanker {
	previous := slices.DeleteFunc(slices.Clone(c.Previous), func(n uint64) bool { return n == number })
	if c.Active != 0 && c.Active != number {
		previous = append(previous, c.Active)
	}
	return currentRanker{Active: number, Previous: previous}
}

func (s *rankerStore) folder(set rankerSet) string {
	return filepath.Join(s.dir, set.tenant.String(), set.kg)
}

func (s *rankerStore) path(set rankerSet, number uint64) string {
	return filepath.Join(s.folder(set), strconv.FormatUint(number, 10)+rankerSuffix)
}

// current returns what CURRENT says, which is read again after it was replaced; without one, nothing is
// active.
func (s *rankerStore) current(set rankerSet) (currentRanker, error) {
	path := filepath.Join(s.folder(set), rankerCurrent)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return currentRanker{}, nil
	}
	if err != nil {
		return currentRanker{}, err
	}
	s.mutex.Lock()
	cached := s.active[path]
	s.mutex.Unlock()
	if isSameFile(info, cached.file) {
		return cached.content, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return currentRanker{}, err
	}
	var c currentRanker
	if err := json.Unmarshal(data, &c); err != nil || c.Sum != c.sum() {
		return currentRanker{}, fmt.Errorf("read %s of the rankers of %s: corrupt; activate a ranker to rewrite it",
			rankerCurrent, set.kg)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	c.Previous = slices.Clip(c.Previous) // shared from now on
	s.active[path] = loadedCurrent{info, c}
	return c, nil
}

// lock keeps other goroutines and processes from changing the rankers of a knowledge graph.
func (s *rankerStore) lock(set rankerSet) (unlock func(), err error) {
	if err := store.CheckName(set.kg); err != nil || set.tenant.IsZero() {
		return nil, errors.Join(err, errors.New("rankers belong to a tenant and a knowledge graph"))
	}
	if err := os.MkdirAll(s.folder(set), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.folder(set), ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing releases the lock
}

// numbers returns the numbers of the stored rankers, ascending.
func (s *rankerStore) numbers(set rankerSet) ([]uint64, error) {
	entries, err := os.ReadDir(s.folder(set))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var numbers []uint64
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), rankerSuffix); ok {
			if n, err := strconv.ParseUint(name, 10, 64); err == nil && n > 0 {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// load reads a ranker, or returns it from the cache.
func (s *rankerStore) load(set rankerSet, number uint64) (*rank.Ranker, error) {
	path := s.path(set, number)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	cached := s.loaded[path]
	s.mutex.Unlock()
	if isSameFile(info, cached.file) {
		return cached.ranker, cached.err
	}
	cached = loadedRanker{file: info}
	cached.ranker, cached.err = readRanker(path)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.loaded[path] = cached
	return cached.ranker, cached.err
}

func readRanker(path string) (*rank.Ranker, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseRanker(f)
}

func parseRanker(from io.Reader) (*rank.Ranker, error) {
	weights, err := rank.Read(from)
	if err != nil {
		return nil, err
	}
	return rank.New(weights)
}

// add stores a file under the next number, or returns the number under which it is stored already.
func (s *rankerStore) add(set rankerSet, file []byte) (number uint64, err error) {
	unlock, err := s.lock(set)
	if err != nil {
		return 0, err
	}
	defer unlock()
	numbers, err := s.numbers(set)
	if err != nil {
		return 0, err
	}
	for _, n := range slices.Backward(numbers) {
		if stored, err := os.ReadFile(s.path(set, n)); err == nil && bytes.Equal(stored, file) {
			return n, nil
		}
	}
	// CURRENT may have a number whose file is gone; it must not get another's.
	c, err := s.current(set)
	if err != nil {
		return 0, err
	}
	number = slices.Max(slices.Concat([]uint64{c.Active}, c.Previous, numbers)) + 1
	return number, s.write(set, strconv.FormatUint(number, 10)+rankerSuffix, file)
}

// write replaces a file atomically.
func (s *rankerStore) write(set rankerSet, name string, content []byte) error {
	return config.ReplaceFile(filepath.Join(s.folder(set), name), 0o644, content)
}

// switchTo makes c the content of CURRENT.
func (s *rankerStore) switchTo(set rankerSet, c currentRanker) error {
	c.Sum = c.sum()
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	err = s.write(set, rankerCurrent, append(data, '\n'))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.active, filepath.Join(s.folder(set), rankerCurrent))
	return err
}

// activate makes a stored ranker the active one; check may refuse it.
func (s *rankerStore) activate(set rankerSet, number uint64, check func(*rank.Ranker) error) error {
	unlock, err := s.lock(set)
	if err != nil {
		return err
	}
	defer unlock()
	ranker, err := s.load(set, number)
	if err != nil {
		return err
	}
	if err := check(ranker); err != nil {
		return err
	}
	c, err := s.current(set)
	if err != nil {
		c = currentRanker{} // it is written again
	}
	return s.switchTo(set, c.activate(number))
}

// errNoPreviousRanker reports a rollback without an active ranker.
var errNoPreviousRanker = errors.New("no ranker is active")

// rollback activates the ranker before the active one and returns its number, 0 if none is active
// now. Rankers whose files are gone are passed over.
func (s *rankerStore) rollback(set rankerSet) (uint64, error) {
	unlock, err := s.lock(set)
	if err != nil {
		return 0, err
	}
	defer unlock()
	c, err := s.current(set)
	if err != nil {
		return 0, err
	}
	if c.Active == 0 {
		return 0, errNoPreviousRanker
	}
	to := currentRanker{}
	for i, n := range slices.Backward(c.Previous) {
		if _, err := s.load(set, n); err == nil {
			to = currentRanker{Active: n, Previous: c.Previous[:i]}
			break
		}
	}
	return to.Active, s.switchTo(set, to)
}

// errActiveRanker reports the deletion of the active ranker.
var errActiveRanker = errors.New("is active; activate another, or roll back")

// remove deletes a ranker that is not active.
func (s *rankerStore) remove(set rankerSet, number uint64) error {
	unlock, err := s.lock(set)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := s.current(set)
	if err != nil {
		return err
	}
	if c.Active == number {
		return errActiveRanker
	}
	return os.Remove(s.path(set, number))
}

// removeAll deletes the rankers of a knowledge graph that was dropped.
func (s *rankerStore) removeAll(set rankerSet) error {
	if err := store.CheckName(set.kg); err != nil || set.tenant.IsZero() {
		return err
	}
	return os.RemoveAll(s.folder(set))
}

// rankerError gives an error about a ranker its code and reason.
func rankerError(op, kg string, number uint64, err error) error {
	if err == nil {
		return nil
	}
	name := "ranker"
	if number != 0 {
		name = fmt.Sprintf("ranker %d", number)
	}
	code, reason := codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_RANKER_UNUSABLE
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, reason = codes.NotFound, errorsv1.ErrorReason_ERROR_REASON_RANKER_NOT_FOUND
		err = errors.New("not found; list rankers with `triplemesh train list --kg " + kg + "`")
	case errors.Is(err, errNoPreviousRanker):
		reason = errorsv1.ErrorReason_ERROR_REASON_RANKER_NOT_FOUND
	case errors.Is(err, errActiveRanker):
		reason = errorsv1.ErrorReason_ERROR_REASON_RANKER_ACTIVE
	case errors.Is(err, unix.ENOSPC):
		code, reason = codes.ResourceExhausted, errorsv1.ErrorReason_ERROR_REASON_DISK_FULL
	}
	return newStatusError(code, reason, &graphv1.KnowledgeGraphRef{Name: kg},
		fmt.Sprintf("%s %s of knowledge graph %q: %v", op, name, kg, err))
}
