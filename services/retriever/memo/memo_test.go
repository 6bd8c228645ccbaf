package memo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/internal/graphtest"
)

func TestMemo(t *testing.T) {
	ctx := context.Background()

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
		if n := len(m.young) + len(m.former); n > 8 {
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
		if len(m.young) != 0 {
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

func TestMemoFromManyGoroutines(t *testing.T) {
	m := New(lockless{}, 3)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				text := fmt.Sprint((g + i) % 7)
				got, err := m.Encode(context.Background(), []string{text})
				if err != nil || !slices.Equal(got[0], graphtest.Vector(text)) {
					t.Errorf("text %s: wrong vector, error %v", text, err)
				}
			}
		})
	}
	wg.Wait()
}
