package openai_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

type listed struct {
	ID, Object, Description string
	OwnedBy                 string `json:"owned_by"`
	Created                 int64
}

// models are the ids that the door lists.
func models(t *testing.T, url string) (ids []string) {
	t.Helper()
	_, text := call(t, "GET", url+"/models", "")
	list := decode[struct {
		Object string
		Data   []listed
	}](t, text)
	if list.Object != "list" {
		t.Errorf("listed %s", text)
	}
	for _, m := range list.Data {
		if m.Object != "model" || m.OwnedBy != "triplemesh" || m.Created == 0 || m.Description == "" {
			t.Errorf("%+v lacks something", m)
		}
		ids = append(ids, m.ID)
	}
	return ids
}

func TestEveryMethodIsAModel(t *testing.T) {
	mesh := stagetest.New(t)
	url := serve(t, mesh, openai.Config{})
	ids := models(t, url)
	for _, want := range []string{"triplemesh/auto", "triplemesh/ger", "triplemesh/io", "triplemesh/pg-akv"} {
		if !slices.Contains(ids, want) {
			t.Errorf("%s is not among %q", want, ids)
		}
	}
	if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, ":") }) {
		t.Errorf("one knowledge graph is told apart in %q", ids)
	}
	for _, id := range ids {
		// Some clients escape the slash in a path, some do not.
		for _, path := range []string{id, strings.ReplaceAll(id, "/", "%2F")} {
			_, text := call(t, "GET", url+"/models/"+path, "")
			if got := decode[listed](t, text); got.ID != id {
				t.Errorf("%s is %s", path, text)
			}
		}
	}
}

func TestWithSeveralKnowledgeGraphsEachIsAModel(t *testing.T) {
	mesh := stagetest.New(t)
	severalKGs(mesh)
	url := serve(t, mesh, openai.Config{})
	ids := models(t, url)
	for id, want := range map[string]bool{
		"triplemesh/pg-akv": true, "triplemesh/pg-akv:films": true, "triplemesh/pg-akv:wikidata": true,
		"triplemesh/ger:films":   true,
		"triplemesh/pg-akv:idle": false, "triplemesh/io:films": false,
	} {
		if slices.Contains(ids, id) != want {
			t.Errorf("%s among %q is %v", id, ids, !want)
		}
	}
	for _, id := range []string{"triplemesh/pg-akv:wikidata", "triplemesh/pg-akv:wikidata@2"} {
		if _, text := call(t, "GET", url+"/models/"+id, ""); decode[listed](t, text).ID != id {
			t.Errorf("%s is %s", id, text)
		}
	}
	stagetest.Fail[*retrieverv1.ListKnowledgeGraphsRequest](mesh, status.Error(codes.PermissionDenied, "no"))
	if ids := models(t, url); !slices.Contains(ids, "triplemesh/pg-akv") {
		t.Errorf("who may not list knowledge graphs is shown %q", ids)
	}
	stagetest.Script(mesh, func(context.Context, *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse, error) {
		return &retrieverv1.ListKnowledgeGraphsResponse{}, nil
	})
	if ids := models(t, url); !slices.Contains(ids, "triplemesh/io") {
		t.Errorf("without a knowledge graph there are %q", ids)
	}
}
