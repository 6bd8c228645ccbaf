// Package runjson reads the JSON form of runs, as evaluation results hold it.
package runjson

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Unmarshal decodes a run. Fields have their present names or those that they had before 0.1.0;
// unknown fields are ignored.
func Unmarshal(text []byte) (*orchestratorv1.Run, error) {
	run := &orchestratorv1.Run{}
	if protojson.Unmarshal(text, run) == nil {
		return run, nil
	}
	var fields any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	rename(fields)
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	run = &orchestratorv1.Run{}
	return run, protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, run)
}

// rename replaces old names of fields. The kg of a run, a message, and the start of a validity keep
// their names.
func rename(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			rename(item)
		}
	case map[string]any:
		for old, name := range map[string]string{"kg": "kgName", "start": "startTime", "started": "startTime"} {
			if text, ok := value[old].(string); ok && (old != "start" || value["spanId"] != nil) {
				delete(value, old)
				value[name] = text
			}
		}
		for name, field := range value {
			if name != "attributes" { // of a span: names that the stages choose
				rename(field)
			}
		}
	}
}
