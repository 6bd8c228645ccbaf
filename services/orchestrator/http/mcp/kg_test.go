package mcp

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"google.golang.org/protobuf/proto"
)

func FuzzParseKG(f *testing.F) {
	for _, seed := range []string{"", "wikidata", "wikidata@3", "@", "a@0", "a@-1", "a@b@1", "a@18446744073709551616"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := parseKG(text)
		if err != nil {
			return
		}
		again, err := parseKG(kgtext.FormatKG(ref))
		if err != nil || !proto.Equal(again, ref) {
			t.Errorf("%q is %v, written again %q: %v, %v", text, ref, kgtext.FormatKG(ref), again, err)
		}
	})
}
