package memo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/retriever/internal/graphtest"
)

func TestMemo(t *testing.T) {
	ctx := tenant.With(t.Context(), tenant.Default())

	t.Run("a text is encoded once, also when it stands twice in a call", func(t *testing.T) {
		under := &graphtest.Encoder{}
		m := New(under, 8)
		first, err := m.Encode(ctx, []string{"a", "b", "a"})
		if err != nil {
			t.Fatal(err)
		}
		second, err := m.Encode(ctx, []string{"b", "c"})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"a", "b", "c"}; !slices.Equal(under.Texts, want) {
			t.Errorf("encoded %q, want %q", under.Texts, want)
		}
		if !slices.Equal(first[0], first[2]) || !slices.Equal(first[1], second[0]) || !slices.Equal(second[1], graphtest.Vector("c")) {
			t.Error("vectors are not those of their texts")
		}
	})

	t.Run("what is asked for stays, the rest goes, and the size is bounded", func(t *testing.T) {
		under := &graphtest.Encoder{}
		m := New(under, 4)
		for i := range 100 {
			if _, err := m.Encode(ctx, []string{"often", fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		often := 0
		for _, text := range under.Texts {
			if text == "often" {
				often++
			}
		}
		if often != 1 {
			t.Errorf("encoded %d times, want 1", often)
		}
		if n := m.young.texts + m.former.texts; n > 8 {
			t.Errorf("%d vectors held, want at most 8", n)
		}
	})

	t.Run("an error is passed on and nothing is kept", func(t *testing.T) {
		down := errors.New("encoder is down")
		under := &graphtest.Encoder{Err: down}
		m := New(under, 4)
		if _, err := m.Encode(ctx, []string{"a"}); !errors.Is(err, down) {
			t.Errorf("error %v, want %v", err, down)
		}
		if m.young.texts != 0 {
			t.Error("a vector was kept")
		}
	})
}

// lockless is an encoder with no state, so that the race detector sees only
// the memo's.
type lockless struct{}

func (lockless) Encode(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = graphtest.Vector(text)
	}
	return vectors, nil
}

func TestWhatOneTenantAskedIsNotFoundByAnother(t *testing.T) {
	under := &graphtest.Encoder{}
	m := New(under, 4)
	for round := range 2 {
		for _, name := range []string{"default", "acme"} {
			id, err := tenant.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			before := len(under.Texts)
			if _, err := m.Encode(tenant.With(t.Context(), id), []string{"a"}); err != nil {
				t.Fatal(err)
			}
			if asked := len(under.Texts) - before; asked != 1-round {
				t.Errorf("round %d: %d texts encoded for %s, want %d", round, asked, name, 1-round)
			}
		}
		before := len(under.Texts)
		if _, err := m.Encode(t.Context(), []string{"a"}); err != nil || len(under.Texts) != before+1 {
			t.Errorf("round %d: %d texts encoded for nobody, %v", round, len(under.Texts)-before, err)
		}
	}
	for i := range 100 {
		id, err := tenant.Parse(fmt.Sprint("t", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Encode(tenant.With(t.Context(), id), []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
	}
	held := 0
	for _, g := range []generation{m.young, m.former} {
		of := 0
		for _, texts := range g.of {
			of += len(texts)
		}
		if of != g.texts {
			t.Errorf("%d vectors are counted, %d are held", g.texts, of)
		}
		held += of
	}
	if held > 8 {
		t.Errorf("%d vectors are held of all tenants, want 8 at most", held)
	}
}

func TestMemoFromManyGoroutines(t *testing.T) {
	m := New(lockless{}, 3)
	ctx := tenant.With(t.Context(), tenant.Default())
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				text := fmt.Sprint((g + i) % 7)
				got, err := m.Encode(ctx, []string{text})
				if err != nil || !slices.Equal(got[0], graphtest.Vector(text)) {
					t.Errorf("text %s: wrong vector, error %v", text, err)
				}
			}
		})
	}
	wg.Wait()
}
