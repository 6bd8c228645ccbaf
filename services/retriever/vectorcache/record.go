package vectorcache

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"unsafe"
)

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
	// maxDims is more than any model has; it keeps a damaged header from
	// asking for memory.
	maxDims = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errNewer    = errors.New("is of a newer version")
	errNoHeader = errors.New("has no valid header")
)

// key is a hash of what a text is kept under, such as an encoder's name, and the
// text.
type key [keySize]byte

func keyOf(space, text string) key {
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

// checksum is over the key too, so that a vector found under a wrong key is
// never handed out.
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
		return 0, fmt.Errorf("%w: %d, this program knows %d", errNewer, v, version)
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

// finite says whether a vector is worth keeping.
func finite(vector []float32) bool {
	for _, x := range vector {
		if x-x != 0 {
			return false
		}
	}
	return true
}
