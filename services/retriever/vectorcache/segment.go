package vectorcache

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	keysSuffix    = ".keys"
	vectorsSuffix = ".vectors"
	// newPrefix marks a segment in the making; its creator renames it.
	newPrefix = ".new-"
)

// segment is one pair of files. Names are times, so their order is their age.
type segment struct {
	id            uint32
	name          string
	keys, vectors *os.File
	dims          int
	// records are those known of.
	records int
	// locked reports whether this process is the writer.
	locked bool
}

func (s *segment) vectorSize() int64 { return 4 * int64(s.dims) }

func (s *segment) bytes() int64 {
	return headerSize + int64(s.records)*(recordSize+s.vectorSize())
}

func (s *segment) close() error { return errors.Join(s.keys.Close(), s.vectors.Close()) }

// openSegment reads the header only. The files are opened for writing, because
// a segment whose writer has ended is taken over.
func openSegment(dir, name string) (_ *segment, err error) {
	s := &segment{name: name}
	open := func(suffix string) (*os.File, error) {
		f, err := os.OpenFile(filepath.Join(dir, name+suffix), os.O_RDWR, 0)
		if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) {
			f, err = os.Open(filepath.Join(dir, name+suffix))
		}
		return f, err
	}
	if s.keys, err = open(keysSuffix); err != nil {
		return nil, err
	}
	if s.vectors, err = open(vectorsSuffix); err != nil {
		return nil, errors.Join(err, s.keys.Close())
	}
	header := make([]byte, headerSize)
	if _, err = io.ReadFull(s.keys, header); err == nil {
		s.dims, err = parseHeader(header)
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errNoHeader
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// createSegment makes an empty segment that this process has locked. Nobody
// sees it before it is whole.
func createSegment(dir string, dims int, now time.Time) (_ *segment, err error) {
	s := &segment{name: fmt.Sprintf("%020d-%d", now.UnixNano(), os.Getpid()), dims: dims, locked: true}
	made := filepath.Join(dir, newPrefix+s.name)
	defer func() {
		if err != nil {
			_ = os.Remove(made + keysSuffix)
			_ = os.Remove(made + vectorsSuffix)
		}
	}()
	if s.keys, err = os.OpenFile(made+keysSuffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644); err != nil {
		return nil, err
	}
	if s.vectors, err = os.OpenFile(made+vectorsSuffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644); err != nil {
		return nil, errors.Join(err, s.keys.Close())
	}
	err = unix.Flock(int(s.keys.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = s.keys.Write(appendHeader(nil, dims))
	}
	// The keys come last: a segment is seen by them.
	whole := filepath.Join(dir, s.name)
	if err == nil {
		err = os.Rename(made+vectorsSuffix, whole+vectorsSuffix)
	}
	if err == nil {
		err = os.Rename(made+keysSuffix, whole+keysSuffix)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// tryLock tries to make this process the segment's writer.
func (s *segment) tryLock() bool {
	if !s.locked {
		s.locked = unix.Flock(int(s.keys.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	}
	return s.locked
}

// completeRecords is the number of records both files hold in full.
func (s *segment) completeRecords() (int, error) {
	keys, err := s.keys.Stat()
	if err != nil {
		return 0, err
	}
	vectors, err := s.vectors.Stat()
	if err != nil {
		return 0, err
	}
	n := min((keys.Size()-headerSize)/recordSize, vectors.Size()/s.vectorSize())
	return int(max(n, 0)), nil
}

// truncate drops what a writer left unfinished; only the segment's writer may.
func (s *segment) truncate() error {
	return errors.Join(
		s.keys.Truncate(headerSize+int64(s.records)*recordSize),
		s.vectors.Truncate(int64(s.records)*s.vectorSize()))
}

// append writes vectors first: a record without its vector is never seen.
func (s *segment) append(records, vectors []byte) error {
	if _, err := s.vectors.WriteAt(vectors, int64(s.records)*s.vectorSize()); err != nil {
		return err
	}
	if _, err := s.keys.WriteAt(records, headerSize+int64(s.records)*recordSize); err != nil {
		return err
	}
	s.records += len(records) / recordSize
	return nil
}

// scan calls do with the keys of records from to to, in order.
func (s *segment) scan(from, to int, do func(record int, k key)) error {
	const chunk = 4096
	buffer := make([]byte, chunk*recordSize)
	for from < to {
		n := min(chunk, to-from)
		b := buffer[:n*recordSize]
		if _, err := s.keys.ReadAt(b, headerSize+int64(from)*recordSize); err != nil {
			return err
		}
		for i := range n {
			do(from+i, key(b[i*recordSize:]))
		}
		from += n
	}
	return nil
}

var errChecksum = errors.New("its checksum is wrong")

// readVector returns the vector of a key, as bytes in the buffer, if the record is
// that key's and is sound.
func (s *segment) readVector(record int, k key, buffer []byte) error {
	var head [recordSize]byte
	if _, err := s.keys.ReadAt(head[:], headerSize+int64(record)*recordSize); err != nil {
		return err
	}
	if _, err := s.vectors.ReadAt(buffer, int64(record)*s.vectorSize()); err != nil {
		return err
	}
	var want [recordSize]byte
	if string(appendRecord(want[:0], k, buffer)) != string(head[:]) {
		return errChecksum
	}
	return nil
}

// A keys file is a header and then records of a key and a checksum; record n's
// vector is the n-th of the vectors file. All numbers are little-endian.
//
//	magic "TMVC", version, dims, checksum of these  4 bytes each
//	key 16 bytes, checksum of key and vector 4      per record
const (
	magic      = "TMVC"
	version    = 1
	headerSize = 16
	recordSize = keySize + 4
	keySize    = 16
	// maxDims is more than any model has; it keeps a damaged header from asking for memory.
	maxDims = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errNewerVersion = errors.New("is of a newer version")
	errNoHeader     = errors.New("has no valid header")
)

// key is a hash of what a text is kept under, such as an encoder's name, and the text.
type key [keySize]byte

func hashKey(space, text string) key {
	h := sha256.New()
	// The length in front keeps ("ab", "c") and ("a", "bc") apart.
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(space)))
	_, _ = h.Write(length[:])
	_, _ = h.Write(unsafe.Slice(unsafe.StringData(space), len(space)))
	_, _ = h.Write(unsafe.Slice(unsafe.StringData(text), len(text)))
	var sum [sha256.Size]byte
	return key(h.Sum(sum[:0])[:keySize])
}

func (k key) fingerprint() uint64 { return binary.LittleEndian.Uint64(k[:]) }

// checksum is over the key too, so that a vector found under a wrong key is never returned.
func (k key) checksum(vector []byte) uint32 {
	return crc32.Update(crc32.Checksum(k[:], castagnoli), castagnoli, vector)
}

func appendHeader(b []byte, dims int) []byte {
	from := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(dims))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// parseHeader returns how many dims the segment's vectors have.
func parseHeader(b []byte) (int, error) {
	if len(b) < headerSize || string(b[:4]) != magic {
		return 0, errNoHeader
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v > version {
		return 0, fmt.Errorf("%w: %d, this program knows %d", errNewerVersion, v, version)
	}
	if binary.LittleEndian.Uint32(b[12:]) != crc32.Checksum(b[:12], castagnoli) {
		return 0, errNoHeader
	}
	dims := binary.LittleEndian.Uint32(b[8:])
	if dims == 0 || dims > maxDims {
		return 0, fmt.Errorf("%w: %d dims", errNoHeader, dims)
	}
	return int(dims), nil
}

// appendRecord adds a key and its vector's checksum.
func appendRecord(b []byte, k key, vector []byte) []byte {
	b = append(b, k[:]...)
	return binary.LittleEndian.AppendUint32(b, k.checksum(vector))
}

func appendVector(b []byte, vector []float32) []byte {
	for _, x := range vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func parseVector(to []float32, b []byte) {
	for i := range to {
		to[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// isFinite reports whether a vector is worth keeping.
func isFinite(vector []float32) bool {
	return !slices.ContainsFunc(vector, func(x float32) bool { return x-x != 0 })
}

// location is where a vector lies: a record of a segment. Records count from 1,
// so that a place of zeros is none.
type location struct{ segment, record uint32 }

// slot is one entry of the table, in 16 bytes.
type slot struct {
	fingerprint uint64
	location    location
}

// table finds a key's place by 64 bits of it, open-addressed with linear
// probing. Two keys of one fingerprint, which 2^32 of them may have, share one
// slot: the record's checksum, which covers the key, tells them apart.
type table struct {
	slots   []slot
	entries int
}

// firstSlot is where the search for a fingerprint begins; it spreads them over a table of any size.
func (t *table) firstSlot(fingerprint uint64) int {
	high, _ := bits.Mul64(fingerprint, uint64(len(t.slots)))
	return int(high)
}

func (t *table) find(fingerprint uint64) (location, bool) {
	if len(t.slots) == 0 {
		return location{}, false
	}
	for i := t.firstSlot(fingerprint); t.slots[i].location.record != 0; i = t.nextSlot(i) {
		if t.slots[i].fingerprint == fingerprint {
			return t.slots[i].location, true
		}
	}
	return location{}, false
}

func (t *table) nextSlot(i int) int {
	if i++; i < len(t.slots) {
		return i
	}
	return 0
}

// insert adds a place, or replaces that of the same fingerprint.
func (t *table) insert(fingerprint uint64, at location) {
	if 8*(t.entries+1) > 7*len(t.slots) {
		t.resize(t.entries + t.entries/2 + 1024)
	}
	i := t.firstSlot(fingerprint)
	for t.slots[i].location.record != 0 && t.slots[i].fingerprint != fingerprint {
		i = t.nextSlot(i)
	}
	if t.slots[i].location.record == 0 {
		t.entries++
	}
	t.slots[i] = slot{fingerprint, at}
}

// reserve makes room for more entries at once.
func (t *table) reserve(more int) {
	if want := (t.entries + more) * 8 / 7; want >= len(t.slots) {
		t.resize(want + 1024)
	}
}

func (t *table) resize(slots int) { t.rebuild(slots, func(location) bool { return true }) }

// retain forgets the places that the caller does not want.
func (t *table) retain(wanted func(location) bool) { t.rebuild(len(t.slots), wanted) }

func (t *table) rebuild(slots int, wanted func(location) bool) {
	former := t.slots
	t.slots, t.entries = make([]slot, slots), 0
	for _, s := range former {
		if s.location.record != 0 && wanted(s.location) {
			t.insert(s.fingerprint, s.location)
		}
	}
}
