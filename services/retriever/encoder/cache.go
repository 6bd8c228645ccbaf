package encoder

import (
	"context"
	"sync"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// TextEncoder is the part of an Encoder that a Cache wraps.
type TextEncoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
}

// Cache is a TextEncoder that caches the vectors of texts that recur from question to question,
// such as the words of relations and of paths. It is safe for concurrent use.
//
// It keeps two generations: texts used recently, and those used before them. When the first is
// full it becomes the second, and the former second is evicted. So between size and twice size
// vectors are held, with no bookkeeping per use.
//
// Tenants share the size but no entries: response times must not reveal what another tenant asked.
type Cache struct {
	encoder TextEncoder
	size    int

	mu          sync.Mutex
	young, aged generation
}

// generation holds the vectors of texts by tenant.
type generation struct {
	vectors map[auth.Tenant]map[string][]float32
	// texts is the number of texts of all tenants.
	texts int
}

// NewCache wraps an encoder. size is the number of texts of a generation; a vector of 384
// components takes 1.5 KiB.
func NewCache(encoder TextEncoder, size int) *Cache {
	return &Cache{encoder: encoder, size: max(size, 1)}
}

// Encode returns one vector per text. The vectors are shared and must not be changed. Nothing is
// cached for a context without a tenant.
func (c *Cache) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	id, err := auth.TenantFrom(ctx)
	if err != nil {
		return c.encoder.Encode(ctx, texts)
	}
	vectors := make([][]float32, len(texts))
	var missing []string
	positions := map[string][]int{}
	c.mu.Lock()
	young, aged := c.young.vectors[id], c.aged.vectors[id]
	for i, text := range texts {
		if v, ok := young[text]; ok {
			vectors[i] = v
			continue
		}
		// A hit in the aged generation makes the text young again.
		if v, ok := aged[text]; ok {
			vectors[i] = v
			c.insert(id, text, v)
			young, aged = c.young.vectors[id], c.aged.vectors[id]
			continue
		}
		if positions[text] == nil {
			missing = append(missing, text)
		}
		positions[text] = append(positions[text], i)
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return vectors, nil
	}
	fresh, err := c.encoder.Encode(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for j, text := range missing {
		c.insert(id, text, fresh[j])
		for _, i := range positions[text] {
			vectors[i] = fresh[j]
		}
	}
	return vectors, nil
}

// insert adds an entry. It requires the lock.
func (c *Cache) insert(id auth.Tenant, text string, v []float32) {
	if c.young.texts >= c.size {
		c.aged, c.young = c.young, generation{}
	}
	if c.young.vectors == nil {
		c.young.vectors = map[auth.Tenant]map[string][]float32{}
	}
	texts := c.young.vectors[id]
	if texts == nil {
		texts = map[string][]float32{}
		c.young.vectors[id] = texts
	}
	if _, ok := texts[text]; !ok {
		c.young.texts++
	}
	texts[text] = v
}
