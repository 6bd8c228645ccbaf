package encoder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
)

func TestCache(t *testing.T) {
	ctx := auth.WithTenant(t.Context(), auth.DefaultTenant())

	t.Run("a text is encoded once, even when a call repeats it", func(t *testing.T) {
		under := &recordingEncoder{}
		m := NewCache(under, 8)
		first, err := m.Encode(ctx, []string{"a", "b", "a"})
		if err != nil {
			t.Fatal(err)
		}
		second, err := m.Encode(ctx, []string{"b", "c"})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"a", "b", "c"}; !slices.Equal(under.texts, want) {
			t.Errorf("encoded %q, want %q", under.texts, want)
		}
		if !slices.Equal(first[0], first[2]) || !slices.Equal(first[1], second[0]) ||
			!slices.Equal(second[1], textVector("c")) {
			t.Error("a text has the vector of another")
		}
	})

	t.Run("recently used texts stay, others are evicted, and the size is bounded", func(t *testing.T) {
		under := &recordingEncoder{}
		m := NewCache(under, 4)
		for i := range 100 {
			if _, err := m.Encode(ctx, []string{"often", fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		often := 0
		for _, text := range under.texts {
			if text == "often" {
				often++
			}
		}
		if often != 1 {
			t.Errorf("encoded %d times, want 1", often)
		}
		if n := m.young.texts + m.aged.texts; n > 8 {
			t.Errorf("%d vectors held, want at most 8", n)
		}
	})

	t.Run("an error is returned and nothing is cached", func(t *testing.T) {
		down := errors.New("encoder is down")
		under := &recordingEncoder{err: down}
		m := NewCache(under, 4)
		if _, err := m.Encode(ctx, []string{"a"}); !errors.Is(err, down) {
			t.Errorf("error %v, want %v", err, down)
		}
		if m.young.texts != 0 {
			t.Error("a vector was cached")
		}
	})
}

// recordingEncoder records the texts it encodes; Err fails all calls.
type recordingEncoder struct {
	texts []string
	err   error
}

func (e *recordingEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	e.texts = append(e.texts, texts...)
	return statelessEncoder{}.Encode(ctx, texts)
}

// statelessEncoder has no state, so that the race detector sees only the cache's.
type statelessEncoder struct{}

func (statelessEncoder) Encode(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = textVector(text)
	}
	return vectors, nil
}

// textVector differs from text to text.
func textVector(text string) []float32 {
	v := make([]float32, 8)
	for i, b := range []byte(text) {
		v[i%8] = 31*v[i%8] + float32(b)
	}
	return v
}

func TestTenantsDoNotShareCachedVectors(t *testing.T) {
	under := &recordingEncoder{}
	m := NewCache(under, 4)
	for round := range 2 {
		for _, name := range []string{"default", "acme"} {
			id, err := auth.ParseTenant(name)
			if err != nil {
				t.Fatal(err)
			}
			before := len(under.texts)
			if _, err := m.Encode(auth.WithTenant(t.Context(), id), []string{"a"}); err != nil {
				t.Fatal(err)
			}
			if encoded := len(under.texts) - before; encoded != 1-round {
				t.Errorf("round %d: %d texts encoded for %s, want %d", round, encoded, name, 1-round)
			}
		}
		before := len(under.texts)
		if _, err := m.Encode(t.Context(), []string{"a"}); err != nil || len(under.texts) != before+1 {
			t.Errorf("round %d: %d texts encoded without a tenant, %v", round, len(under.texts)-before, err)
		}
	}
	for i := range 100 {
		id, err := auth.ParseTenant(fmt.Sprint("t", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Encode(auth.WithTenant(t.Context(), id), []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
	}
	held := 0
	for _, g := range []generation{m.young, m.aged} {
		counted := 0
		for _, texts := range g.vectors {
			counted += len(texts)
		}
		if counted != g.texts {
			t.Errorf("the counter says %d vectors, %d are held", g.texts, counted)
		}
		held += counted
	}
	if held > 8 {
		t.Errorf("%d vectors are held of all tenants, want 8 at most", held)
	}
}

func TestCacheFromManyGoroutines(t *testing.T) {
	m := NewCache(statelessEncoder{}, 3)
	ctx := auth.WithTenant(t.Context(), auth.DefaultTenant())
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				text := fmt.Sprint((g + i) % 7)
				got, err := m.Encode(ctx, []string{text})
				if err != nil || !slices.Equal(got[0], textVector(text)) {
					t.Errorf("text %s: wrong vector, error %v", text, err)
				}
			}
		})
	}
	wg.Wait()
}
