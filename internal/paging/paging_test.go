package paging_test

import (
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/paging"
)

func name(s string) string { return s }

func TestPagesHoldEveryItemOnce(t *testing.T) {
	items := []string{"a", "b", "c", "d", "e"}
	for size := uint32(0); size <= 6; size++ {
		pages := 0
		got, err := paging.All(func(token string) ([]string, string, error) {
			pages++
			return paging.Cut(items, name, size, 2, token)
		})
		if err != nil || !slices.Equal(got, items) {
			t.Errorf("pages of %d hold %v (%v), want %v", size, got, err, items)
		}
		length := 2
		if size > 0 {
			length = int(size)
		}
		if want := (len(items) + length - 1) / length; pages != want {
			t.Errorf("pages of %d: %d of them, want %d", size, pages, want)
		}
	}
}

func TestPageBeginsAfterTheLastItemOfThePageBefore(t *testing.T) {
	_, token, err := paging.Cut([]string{"b", "d", "f"}, name, 2, 10, "")
	if err != nil {
		t.Fatal(err)
	}
	got, next, err := paging.Cut([]string{"a", "b", "c", "e", "f"}, name, 2, 10, token)
	if want := []string{"e", "f"}; err != nil || next != "" || !slices.Equal(got, want) {
		t.Errorf("after d was removed and others added: %v, next %q (%v), want %v", got, next, err, want)
	}
}

func TestPageRefusesOtherTokens(t *testing.T) {
	if _, _, err := paging.Cut([]string{"a"}, name, 1, 1, "*"); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a token that is none: %v, want InvalidArgument", err)
	}
}
