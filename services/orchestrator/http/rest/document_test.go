package rest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// described is the document as served.
func described(t *testing.T) map[string]any {
	t.Helper()
	_, body := start(t).do(t, http.MethodGet, "/api/openapi.json", "")
	var d map[string]any
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// valueAt returns the JSON value at a path of names; nil if there is none.
func valueAt(value any, names ...string) any {
	for _, name := range names {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[name]
	}
	return value
}

func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	d := described(t)
	var look func(any)
	look = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			if to, ok := v["$ref"].(string); ok &&
				valueAt(d, strings.Split(strings.TrimPrefix(to, "#/"), "/")...) == nil {
				t.Errorf("%s is not there", to)
			}
			for _, inner := range v {
				look(inner)
			}
		case []any:
			for _, inner := range v {
				look(inner)
			}
		}
	}
	look(d)
}

// TestDocumentCoversTheContract checks every public method, except those that REST omits.
func TestDocumentCoversTheContract(t *testing.T) {
	without := map[protoreflect.Name]bool{
		"LoadKnowledgeGraph": true, "ImportSnapshot": true, "ExportSnapshot": true,
		"CreateRanker": true, "ExportRanker": true, "SampleEntities": true,
		"DiffSnapshots":  true, // streams of bytes, for gRPC
		"ProposeTriples": true, // for the command line
	}
	has := map[string]bool{}
	paths, _ := valueAt(described(t), "paths").(map[string]any)
	for path, verbs := range paths {
		operations, _ := verbs.(map[string]any)
		for verb, operation := range operations {
			id, _ := valueAt(operation, "operationId").(string)
			if has[id] || id == "" {
				t.Errorf("%s %s has the id %q", verb, path, id)
			}
			has[id] = true
			if valueAt(operation, "responses", "200") == nil || valueAt(operation, "responses", "default") == nil ||
				valueAt(operation, "description") == "" {
				t.Errorf("%s lacks an answer, or words", id)
			}
		}
	}
	for _, file := range []protoreflect.FileDescriptor{
		orchestratorv1.File_triplemesh_orchestrator_v1_orchestrator_proto,
		retrieverv1.File_triplemesh_retriever_v1_retriever_proto,
		retrieverv1.File_triplemesh_retriever_v1_knowledge_graph_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			if name := methods.Get(i).Name(); !has[string(name)] && !without[name] {
				t.Errorf("there is no %s", name)
			}
		}
	}
}

func TestWhatTheDocumentSaysOfFields(t *testing.T) {
	schemas := valueAt(described(t), "components", "schemas")
	for _, test := range []struct {
		name string
		path []string
		want string // JSON
	}{
		{"what must be set is required", []string{"AskRequest", "required"}, `["question"]`},
		{"texts have their lengths", []string{"AskRequest", "properties", "question", "minLength"}, `1`},
		{"numbers have their bounds", []string{"GroundingOptionsInput", "properties", "topK", "maximum"}, `1000`},
		{"lists have their lengths", []string{"CheckRequest", "properties", "otherKgs", "maxItems"}, `7`},
		{"patterns are told", []string{"KnowledgeGraphRefInput", "properties", "name", "pattern"},
			`"^[a-z][a-z0-9_-]{0,62}$"`},
		{"64 bits go out as text", []string{"KnowledgeGraphRef", "properties", "snapshot", "type"}, `"string"`},
		{"and come in as numbers too", []string{"KnowledgeGraphRefInput", "properties", "snapshot", "type"},
			`["string","integer"]`},
		{"enumerations have their names", []string{"Verdict", "enum"},
			`["VERDICT_UNSPECIFIED","VERDICT_SUPPORTED","VERDICT_CONTRADICTED","VERDICT_NOT_IN_KG"]`},
		{"times are texts", []string{"Run", "properties", "startTime", "format"}, `"date-time"`},
		{"comments are told", []string{"GetRunResponse", "description"}, `"GetRunResponse carries a run."`},
		{"what goes out is held to no rules", []string{"Triple", "required"}, `null`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := json.Marshal(valueAt(schemas, test.path...)); err != nil || string(got) != test.want {
				t.Errorf("got %s, want %s, %v", got, test.want, err)
			}
		})
	}
}
