package vectorcache

import (
	"context"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
)

// cachedEncoder is an encoder that asks another one only for what the cache lacks.
type cachedEncoder struct {
	cache *Cache
	inner encoder.Encoder
}

// Encoder wraps an encoder, so that it is asked only for texts that no encoder of its name has ever
// been asked for by the same tenant: how fast a vector comes must not tell what others have. What
// is missing from a call goes to it in one call. Its name and dims stay. Of a context without a
// tenant nothing is kept.
func (c *Cache) Encoder(inner encoder.Encoder) encoder.Encoder {
	return &cachedEncoder{cache: c, inner: inner}
}

func (e *cachedEncoder) Name() string { return e.inner.Name() }
func (e *cachedEncoder) Dims() int    { return e.inner.Dims() }

func (e *cachedEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	name := e.inner.Name()
	id, err := auth.TenantFrom(ctx)
	if err != nil {
		return e.inner.Encode(ctx, texts)
	}
	space := namespace(id, name)
	keys := make([]key, len(texts))
	for i, text := range texts {
		keys[i] = hashKey(space, text)
	}
	vectors := make([][]float32, len(texts))
	missing, err := e.cache.lookup(e.inner.Dims(), keys, vectors)
	if err != nil || len(missing) == 0 {
		return vectors, err
	}
	// A text that stands twice is encoded once.
	first := make(map[key]int, len(missing))
	var fresh []string
	var freshKeys []key
	for _, i := range missing {
		if _, twice := first[keys[i]]; !twice {
			first[keys[i]] = len(fresh)
			fresh, freshKeys = append(fresh, texts[i]), append(freshKeys, keys[i])
		}
	}
	encoded, err := e.inner.Encode(ctx, fresh)
	if err != nil {
		return nil, err
	}
	if err := checkVectors(encoded, len(fresh), e.inner.Dims()); err != nil {
		return nil, fmt.Errorf("encode by %s: %w", name, err)
	}
	for _, i := range missing {
		vectors[i] = encoded[first[keys[i]]]
	}
	e.cache.add(freshKeys, encoded)
	return vectors, nil
}

// namespace is what the texts of a tenant and an encoder are kept under: the
// encoder's name for the default tenant. No encoder's name has a NUL.
func namespace(id auth.Tenant, encoder string) string {
	if id.IsDefault() {
		return encoder
	}
	return encoder + "\x00" + id.String()
}

func checkVectors(vectors [][]float32, want, dims int) error {
	if len(vectors) != want {
		return fmt.Errorf("%d vectors for %d texts", len(vectors), want)
	}
	for i, v := range vectors {
		if len(v) != dims {
			return fmt.Errorf("vector %d has %d dims, want %d", i, len(v), dims)
		}
	}
	return nil
}
