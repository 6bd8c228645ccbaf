package weaviate

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
)

func TestCollectionNamesNeverCollide(t *testing.T) {
	seen := map[string]string{}
	for _, of := range []string{"default", "a", "a-b", "akb", "a--b", strings.Repeat("a-", 20)} {
		id, err := auth.ParseTenant(of)
		if err != nil {
			t.Fatal(err)
		}
		for _, kg := range []string{"a", "bkc", "c", "b__c", "b_-c", "b_", "record", strings.Repeat("k-", 31),
			strings.Repeat("k_", 31)} {
			names := []string{recordName(collectionPrefix("T", id), kg), lockName(collectionPrefix("T", id), kg)}
			for _, number := range []uint64{1, 11, 1 << 63} {
				for _, part := range []string{vectorsPart, structurePart} {
					names = append(names, collection(collectionPrefix("T", id), kg, number, part))
				}
			}
			for _, name := range names {
				whose := of + " " + kg
				// Weaviate takes names for one that differ in case alone.
				key := strings.ToLower(name)
				if other, ok := seen[key]; ok {
					t.Errorf("%s is a collection of %s and of %s", name, other, whose)
				}
				seen[key] = whose
				if len(name) > 255 {
					t.Errorf("%s has %d bytes", name, len(name))
				}
			}
		}
	}
}

func TestOneTenantsHomeIsNotTheBeginningOfAnothers(t *testing.T) {
	a, _ := auth.ParseTenant("acme")
	b, _ := auth.ParseTenant("acme-2")
	if one, other := collectionPrefix("T", a), collectionPrefix("T", b); strings.HasPrefix(other, one) ||
		strings.HasPrefix(one, other) {
		t.Errorf("%s and %s", one, other)
	}
}
