// Package memo remembers the vectors of texts that come back from question to
// question, such as the words of relations and of the paths made of them.
package memo

import (
	"context"
	"sync"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Encoder turns texts into vectors, one per text, each of length 1.
type Encoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
}

// Memo is an Encoder that asks another one only for what it has not seen of
// late. It is safe for concurrent use.
//
// It keeps two generations: texts seen lately, and those before them. When the
// first is full it becomes the second, and what nobody asked for since is
// gone. So between size and twice size vectors are held, with no bookkeeping
// per use.
//
// What one tenant's texts left is not found by another's: how fast an answer
// comes must not tell what others asked. All share the size.
type Memo struct {
	encoder Encoder
	size    int

	mu            sync.Mutex
	young, former generation
}

// generation has the vectors of texts, tenant by tenant.
type generation struct {
	of map[tenant.ID]map[string][]float32
	// texts counts those of all tenants.
	texts int
}

// New wraps an encoder. size is how many texts a generation holds; a vector of
// 384 dims takes 1.5 KiB.
func New(encoder Encoder, size int) *Memo {
	return &Memo{encoder: encoder, size: max(size, 1)}
}

// Encode returns one vector per text. The vectors are shared and must not be
// changed. Of a context without a tenant nothing is remembered.
func (m *Memo) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	id, err := tenant.From(ctx)
	if err != nil {
		return m.encoder.Encode(ctx, texts)
	}
	vectors := make([][]float32, len(texts))
	var missing []string
	at := map[string][]int{}
	m.mu.Lock()
	young, former := m.young.of[id], m.former.of[id]
	for i, text := range texts {
		if v, ok := young[text]; ok {
			vectors[i] = v
			continue
		}
		// One found among the former becomes young again.
		if v, ok := former[text]; ok {
			vectors[i] = v
			m.keep(id, text, v)
			young, former = m.young.of[id], m.former.of[id]
			continue
		}
		if at[text] == nil {
			missing = append(missing, text)
		}
		at[text] = append(at[text], i)
	}
	m.mu.Unlock()
	if len(missing) == 0 {
		return vectors, nil
	}
	fresh, err := m.encoder.Encode(ctx, missing)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for j, text := range missing {
		m.keep(id, text, fresh[j])
		for _, i := range at[text] {
			vectors[i] = fresh[j]
		}
	}
	return vectors, nil
}

func (m *Memo) keep(id tenant.ID, text string, v []float32) {
	if m.young.texts >= m.size {
		m.former, m.young = m.young, generation{}
	}
	if m.young.of == nil {
		m.young.of = map[tenant.ID]map[string][]float32{}
	}
	texts := m.young.of[id]
	if texts == nil {
		texts = map[string][]float32{}
		m.young.of[id] = texts
	}
	if _, known := texts[text]; !known {
		m.young.texts++
	}
	texts[text] = v
}
