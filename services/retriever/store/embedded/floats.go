package embedded

import "unsafe"

// asBytes views numbers as the bytes they lie in.
func asBytes(values []float32) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*4)
}

// littleEndian says whether this machine reads the files as they are.
func littleEndian() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 1
}
