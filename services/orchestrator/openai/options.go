package openai

import (
	"bytes"
	"encoding/json"
	"regexp"

	"google.golang.org/protobuf/encoding/protojson"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// readOptions reads the field triplemesh of a request: an AskRequest in JSON,
// without what the messages and the model say, and with knowledge graphs by
// their names.
func readOptions(text json.RawMessage) (*orchestratorv1.AskRequest, error) {
	ask := &orchestratorv1.AskRequest{}
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" {
		return ask, nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, invalid("triplemesh", `triplemesh: want an object such as {"kg": "wikidata", "options": {"verification": "VERIFICATION_MODE_ALIGN"}}`)
	}
	for field, said := range map[string]string{"question": "the last message", "history": "the messages before it", "method": "the model"} {
		if _, ok := fields[field]; ok {
			return nil, invalid("triplemesh."+field, "triplemesh.%s: %s says that", field, said)
		}
	}
	var err error
	if ask.Kg, err = named(fields, "kg"); err != nil {
		return nil, err
	}
	for _, field := range []string{"other_kgs", "otherKgs"} {
		if err := takeOthers(ask, fields, field); err != nil {
			return nil, err
		}
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	more := &orchestratorv1.AskRequest{}
	if err := protojson.Unmarshal(rest, more); err != nil {
		return nil, invalid("triplemesh", "triplemesh: %s", plain(err))
	}
	more.Kg, more.OtherKgs = ask.GetKg(), ask.GetOtherKgs()
	return more, nil
}

// named takes a field with the name of a knowledge graph out of the others.
func named(fields map[string]json.RawMessage, field string) (*graphv1.KnowledgeGraphRef, error) {
	text, ok := fields[field]
	delete(fields, field)
	if !ok || string(text) == "null" {
		return nil, nil
	}
	var name string
	err := json.Unmarshal(text, &name)
	kg, ok := parseReference(name)
	if err != nil || !ok {
		return nil, invalid("triplemesh."+field, `triplemesh.%s: want the name of a knowledge graph, "wikidata", or one snapshot of it, "wikidata@3"`, field)
	}
	return kg, nil
}

// takeOthers takes a field with names of knowledge graphs out of the others.
func takeOthers(ask *orchestratorv1.AskRequest, fields map[string]json.RawMessage, field string) error {
	text, ok := fields[field]
	delete(fields, field)
	if !ok {
		return nil
	}
	var names []json.RawMessage
	if err := json.Unmarshal(text, &names); err != nil {
		return invalid("triplemesh."+field, "triplemesh.%s: want names of knowledge graphs", field)
	}
	for _, name := range names {
		kg, err := named(map[string]json.RawMessage{field: name}, field)
		if err != nil {
			return err
		}
		if kg != nil {
			ask.OtherKgs = append(ask.OtherKgs, kg)
		}
	}
	return nil
}

// plain is what an error of protojson says, without where in its input, which is
// not what the caller wrote.
func plain(err error) string { return position.ReplaceAllString(err.Error(), "") }

var position = regexp.MustCompile(`^proto:[\s\x{00a0}]*|\(line \d+:\d+\):?[\s\x{00a0}]*`)
