package auth

import (
	"strings"
	"testing"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

func TestScopeNames(t *testing.T) {
	values := authv1.Scope_SCOPE_UNSPECIFIED.Descriptor().Values()
	for i := range values.Len() {
		scope := authv1.Scope(values.Get(i).Number())
		name := ScopeName(scope)
		parsed, err := ParseScope(name)
		given := scope != authv1.Scope_SCOPE_UNSPECIFIED && scope != authv1.Scope_SCOPE_MESH
		if (err == nil) != given || given && parsed != scope {
			t.Errorf("%v is written %q and read as %v, %v", scope, name, parsed, err)
		}
	}
	if _, err := ParseScope("read"); err == nil || !strings.Contains(err.Error(), "kg:read") {
		t.Errorf("a wrong scope: got %v, want what there is", err)
	}
}
