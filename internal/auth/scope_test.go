package auth

import (
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoregistry"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	_ "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	_ "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	_ "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	_ "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	_ "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	_ "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func TestEveryMethodOfTheContractDeclaresItsScope(t *testing.T) {
	// What is not linked into this test would not be looked at.
	const root = "../../proto"
	files, err := filepath.Glob(root + "/triplemesh/*/v1/*.proto")
	if err != nil || len(files) == 0 {
		t.Fatalf("the contract is not where it was: %v", err)
	}
	methods := 0
	var scopes methodScopes
	for _, path := range files {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := protoregistry.GlobalFiles.FindFileByPath(filepath.ToSlash(name))
		if err != nil {
			// A file without services needs no look, unless nobody imports it.
			t.Errorf("%s is not linked into this test: import its package above", name)
			continue
		}
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				methods++
				if scopes.of("/"+string(service.FullName())+"/"+string(method.Name())) == authv1.Scope_SCOPE_UNSPECIFIED {
					t.Errorf("%s declares no scope", method.FullName())
				}
			}
		}
	}
	if methods < 30 {
		t.Errorf("%d methods were found, want all of six services", methods)
	}
}

func TestScopesOfMethodsThatAreNone(t *testing.T) {
	var scopes methodScopes
	for name, method := range map[string]string{
		"a method that the contract does not have": "/triplemesh.orchestrator.v1.OrchestratorService/Guess",
		"a service": "/triplemesh.orchestrator.v1.OrchestratorService",
		"a message": "/triplemesh.orchestrator.v1/AskRequest",
		"nothing":   "",
		"noise":     "///..",
	} {
		for range 2 {
			if got := scopes.of(method); got != authv1.Scope_SCOPE_UNSPECIFIED {
				t.Errorf("%s has the scope %v", name, got)
			}
		}
	}
}

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
