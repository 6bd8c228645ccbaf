package vectorcache

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// key is a hash of what a text is kept under, such as an encoder's name, and the text.
type key [16]byte

func hashKey(space, text string) key {
	// The length in front keeps ("ab", "c") and ("a", "bc") apart.
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(space)+len(text)), uint64(len(space)))
	sum := sha256.Sum256(append(append(b, space...), text...))
	return key(sum[:len(key{})])
}

// A record is a key, the checksum of key and vector in 4 bytes, and the vector. The checksum covers
// the key, so that a vector found under a wrong key is never returned.
const recordHeader = len(key{}) + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeRecord(k key, vector []float32) []byte {
	b := append(make([]byte, 0, recordHeader+4*len(vector)), k[:]...)
	b, _ = binary.Append(b[:recordHeader], binary.LittleEndian, vector) // slices of numbers do not fail
	binary.LittleEndian.PutUint32(b[len(k):], recordChecksum(b))
	return b
}

func recordChecksum(record []byte) uint32 {
	return crc32.Update(crc32.Checksum(record[:len(key{})], castagnoli), castagnoli, record[recordHeader:])
}

// decodeRecord returns the vector of an undamaged record of the key.
func decodeRecord(k key, record []byte) (vector []float32, ok bool) {
	if len(record) < recordHeader || string(record[:len(k)]) != string(k[:]) ||
		binary.LittleEndian.Uint32(record[len(k):]) != recordChecksum(record) {
		return nil, false
	}
	vector = make([]float32, len(record[recordHeader:])/4)
	_, err := binary.Decode(record[recordHeader:], binary.LittleEndian, vector)
	return vector, err == nil
}

// isFinite reports whether a vector is worth keeping.
func isFinite(vector []float32) bool {
	return !slices.ContainsFunc(vector, func(x float32) bool { return x-x != 0 })
}
