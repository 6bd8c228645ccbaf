package auth

import (
	"path/filepath"
	"slices"
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

func TestEveryMethodOfTheContractHasItsOptions(t *testing.T) {
	// Only linked files are checked, so every file must be imported above.
	const root = "../../proto"
	files, err := filepath.Glob(root + "/triplemesh/*/v1/*.proto")
	if err != nil || len(files) == 0 {
		t.Fatalf("the contract is not in %s: %v", root, err)
	}
	methods := 0
	for _, path := range files {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := protoregistry.GlobalFiles.FindFileByPath(filepath.ToSlash(name))
		if err != nil {
			t.Errorf("%s is not linked into this test: import its package above", name)
			continue
		}
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				methods++
				got := LookupMethod("/" + string(service.FullName()) + "/" + string(method.Name()))
				if got.Scope == authv1.Scope_SCOPE_UNSPECIFIED {
					t.Errorf("%s declares no scope", method.FullName())
				}
				if writes := got.Scope == authv1.Scope_SCOPE_KG_WRITE ||
					got.Scope == authv1.Scope_SCOPE_ADMIN; writes &&
					!got.Audited {
					t.Errorf("%s writes and is not audited", method.FullName())
				}
				if rollback := strings.HasPrefix(string(method.Name()), "Rollback"); got.Idempotent == rollback {
					t.Errorf("%s is idempotent: %v; every method but rollbacks is", method.FullName(), got.Idempotent)
				}
				if writes := got.Scope == authv1.Scope_SCOPE_KG_WRITE; got.Hedgeable() == writes {
					t.Errorf("%s can be hedged: %v; every method that writes no graph can", method.FullName(),
						got.Hedgeable())
				}
				if got.Idempotent != slices.Contains(IdempotentMethods()[string(service.FullName())],
					string(method.Name())) {
					t.Errorf("%s differs in IdempotentMethods", method.FullName())
				}
			}
		}
	}
	if methods < 30 {
		t.Errorf("%d methods were found, want those of six services", methods)
	}
}

func TestUnknownMethodsMayNotBeCalledOrRetried(t *testing.T) {
	for name, method := range map[string]string{
		"a method that the contract does not have": "/triplemesh.orchestrator.v1.OrchestratorService/Guess",
		"a service": "/triplemesh.orchestrator.v1.OrchestratorService",
		"a message": "/triplemesh.orchestrator.v1/AskRequest",
		"nothing":   "",
		"noise":     "///..",
	} {
		for range 2 {
			if got := LookupMethod(method); got != (Method{}) {
				t.Errorf("%s has the options %+v", name, got)
			}
		}
	}
}
