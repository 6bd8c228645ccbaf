package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// guard runs read and turns a memory fault into ErrCorrupt: a mapped file that
// somebody cuts off while it is read must not end the process.
func guard(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			fault, ok := p.(interface {
				error
				Addr() uintptr
			})
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("a file was cut off while it was read (%v): %w", fault, store.ErrCorrupt)
		}
	}()
	return read()
}

// hashBlock is how many bytes are hashed between looks at the context.
const hashBlock = 1 << 20

func sumOf(ctx context.Context, data []byte) (string, error) {
	hash := sha256.New()
	err := guard(func() error {
		for len(data) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(hashBlock, len(data))
			hash.Write(data[:n])
			data = data[n:]
		}
		return nil
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// pathOf returns the path an error of the file system names.
func pathOf(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Path
	}
	return ""
}
