package server

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rules "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/triplemesh/triplemesh/internal/testkit"
	_ "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// celCase is a message that keeps a CEL rule and one that breaks this rule alone.
type celCase struct{ valid, invalid proto.Message }

func celCases() map[string]celCase {
	active := &graphv1.KnowledgeGraphRef{Name: "films"}
	numbered := &graphv1.KnowledgeGraphRef{Name: "films", Snapshot: 3}
	steps := []*graphv1.RelationStep{{Relation: "directed by"}}
	triple := &graphv1.Triple{Subject: "Low Tide", Relation: "directed by", Object: "Mia Berg"}
	return map[string]celCase{
		"activate_snapshot.kg.snapshot": {&retrieverv1.ActivateSnapshotRequest{Kg: numbered},
			&retrieverv1.ActivateSnapshotRequest{Kg: active}},
		"ask.other_kgs": {
			&orchestratorv1.AskRequest{Question: "who", Kg: active, OtherKgs: []*graphv1.KnowledgeGraphRef{numbered}},
			&orchestratorv1.AskRequest{Question: "who", OtherKgs: []*graphv1.KnowledgeGraphRef{numbered}}},
		"columns.relation_object": {&retrieverv1.Columns{Relation: "r", Object: "o"},
			&retrieverv1.Columns{Relation: "r"}},
		"diff_snapshots.from": {&retrieverv1.DiffSnapshotsRequest{Kg: numbered, From: 2},
			&retrieverv1.DiffSnapshotsRequest{Kg: numbered, From: 3}},
		"filter.at":                 {&retrieverv1.Filter{At: "2005-03"}, &retrieverv1.Filter{At: "banana"}},
		"import_header.kg.snapshot": {&retrieverv1.ImportHeader{Kg: active}, &retrieverv1.ImportHeader{Kg: numbered}},
		"load_header.kg.snapshot":   {&retrieverv1.LoadHeader{Kg: active}, &retrieverv1.LoadHeader{Kg: numbered}},
		"reasoning_path.entities": {&graphv1.ReasoningPath{Entities: []string{"a", "b"}, Steps: steps},
			&graphv1.ReasoningPath{Entities: []string{"a", "b", "c"}, Steps: steps}},
		"reasoning_path.entity_ids": {
			&graphv1.ReasoningPath{Entities: []string{"a", "b"}, EntityIds: []string{"1", ""}, Steps: steps},
			&graphv1.ReasoningPath{Entities: []string{"a", "b"}, EntityIds: []string{"1"}, Steps: steps}},
		"reflect.answers": {
			&reflectorv1.ReflectRequest{Question: "who",
				Candidates: []*graphv1.CandidateAnswer{{Answer: "Mia Berg"}}},
			&reflectorv1.ReflectRequest{Question: "who"}},
		"rollback_knowledge_graph.kg.snapshot": {&retrieverv1.RollbackKnowledgeGraphRequest{Kg: active},
			&retrieverv1.RollbackKnowledgeGraphRequest{Kg: numbered}},
		"text_span.order": {&graphv1.TextSpan{Start: 4, End: 4}, &graphv1.TextSpan{Start: 4, End: 3}},
		"typed_column.reference": {
			&retrieverv1.TypedColumn{Heading: "a", Type: retrieverv1.ColumnType_COLUMN_TYPE_ENTITY, Reference: "b"},
			&retrieverv1.TypedColumn{Heading: "a", Type: retrieverv1.ColumnType_COLUMN_TYPE_DATE, Reference: "b"}},
		"verify.graphs": {
			&verifierv1.VerifyRequest{Question: "who", PseudoGraph: &graphv1.PseudoGraph{
				Triples: []*graphv1.Triple{triple}}},
			&verifierv1.VerifyRequest{Question: "who"}},
	}
}

func TestCELRules(t *testing.T) {
	validator, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range celCases() {
		t.Run(id, func(t *testing.T) {
			if err := validator.Validate(c.valid); err != nil {
				t.Errorf("%v is refused: %v", c.valid, err)
			}
			var broken *protovalidate.ValidationError
			if err := validator.Validate(c.invalid); !errors.As(err, &broken) || len(broken.Violations) != 1 ||
				broken.Violations[0].Proto.GetRuleId() != id {
				t.Errorf("%v: %v, want the rule %s broken", c.invalid, err, id)
			}
		})
	}
}

func TestEveryCELRuleHasACase(t *testing.T) {
	declared := map[string]bool{}
	add := func(cel []*rules.Rule) {
		for _, rule := range cel {
			declared[rule.GetId()] = true
		}
	}
	var addMessages func(protoreflect.MessageDescriptors)
	addMessages = func(messages protoreflect.MessageDescriptors) {
		for i := range messages.Len() {
			message := messages.Get(i)
			add(proto.GetExtension(message.Options(), rules.E_Message).(*rules.MessageRules).GetCel())
			for j := range message.Fields().Len() {
				field := proto.GetExtension(message.Fields().Get(j).Options(), rules.E_Field).(*rules.FieldRules)
				add(slices.Concat(field.GetCel(), field.GetRepeated().GetItems().GetCel(),
					field.GetMap().GetKeys().GetCel(), field.GetMap().GetValues().GetCel()))
			}
			addMessages(message.Messages())
		}
	}
	root := testkit.CheckoutFile(t, "proto")
	files, err := filepath.Glob(filepath.Join(root, "triplemesh", "*", "*", "*.proto"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d protos, %v", len(files), err)
	}
	for _, name := range files {
		file, err := protoregistry.GlobalFiles.FindFileByPath(filepath.ToSlash(strings.TrimPrefix(name, root+"/")))
		if err != nil {
			t.Fatalf("%s: %v; import its package in this test", name, err)
		}
		addMessages(file.Messages())
	}
	want, got := slices.Sorted(maps.Keys(declared)), slices.Sorted(maps.Keys(celCases()))
	if !slices.Equal(got, want) {
		t.Errorf("the cases are %q, want one for each rule: %q", got, want)
	}
}
