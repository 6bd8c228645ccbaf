package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// hashBlock is how many bytes are hashed between looks at the context.
const hashBlock = 1 << 20

// compareSum reads all of a mapped file.
func compareSum(ctx context.Context, name string, data []byte, want string) error {
	hash := sha256.New()
	err := store.Guard(func() error {
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
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return mismatch(name, got, want)
	}
	return nil
}

// pathOf returns the path an error of the file system names.
func pathOf(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Path
	}
	return ""
}
