package openapi

import (
	"errors"
	"fmt"
)

// addUpload adds the load of a file, whose body is the file: LoadStream has
// messages of its own for what is in the query here.
func (c *contract) addUpload(paths object) error {
	m, ok := c.methods["triplemesh.retriever.v1.KnowledgeGraphService.LoadStream"]
	if !ok {
		return errors.New("the contract has no LoadStream")
	}
	load := c.methods["triplemesh.retriever.v1.KnowledgeGraphService.Load"]
	header, err := find(load.Input, "header")
	if err != nil {
		return err
	}
	file, err := find(load.Input, "file")
	if err != nil {
		return err
	}
	kg, err := find(header.Message, "kg")
	if err != nil {
		return err
	}
	s := c.field(kg, in)
	delete(s, "description")
	parameters := list{object{"name": "kg", "in": "path", "required": true, "schema": s, "description": said(kg.Comments.Leading)}}
	parameters = append(parameters, c.query(header.Message, []string{"kg"}, "")...)
	for _, q := range c.query(file.Message, nil, "") {
		q, _ := q.(object)
		if q["name"] == "name" {
			q["name"], q["required"] = "file", true
		}
		parameters = append(parameters, q)
	}
	columns, err := find(file.Message, "columns")
	if err != nil {
		return err
	}
	for _, q := range c.query(columns.Message, nil, "") {
		q, _ := q.(object)
		q["name"] = fmt.Sprintf("columns.%s", q["name"])
		q["x-field"] = fmt.Sprintf("columns.%s", q["x-field"])
		parameters = append(parameters, q)
	}
	for _, p := range parameters {
		fitURL(p)
	}
	op := operation(m)
	op["parameters"] = parameters
	op["requestBody"] = object{"required": true, "content": object{
		"application/octet-stream": object{"schema": object{"type": "string", "format": "binary"}},
	}}
	op["responses"] = responses(object{
		"description": said(m.Output.Comments.Leading), "headers": object{"X-Request-Id": requestIDHeader}, "content": c.events(m.Output),
	})
	paths["/api/v1/kgs/{kg}:load"] = object{"post": op}
	return nil
}

// longest is how many characters a text in the query of an upload may have: an
// address has no room for all that the contract allows.
const longest = 255

func fitURL(parameter any) {
	p, _ := parameter.(object)
	s, _ := p["schema"].(object)
	if n, ok := s["maxLength"].(uint64); ok && n > longest {
		s["maxLength"] = uint64(longest)
	}
}

// addReports adds the list of reports, which are files beside the contract.
func addReports(paths object) {
	text := func(description string) object { return object{"type": "string", "description": description} }
	paths["/api/v1/reports"] = object{"get": object{
		"operationId": "ListReports", "tags": list{"Reports"}, "summary": "ListReports lists the reports of evaluations",
		"description": "ListReports lists the reports of evaluations, newest first. A report is at /reports/{name}.html.\n\nNeeds the scope ask.",
		"responses": responses(object{
			"description": "The reports.",
			"headers":     object{"X-Request-Id": requestIDHeader},
			"content": object{"application/json": object{"schema": object{
				"type": "object", "required": list{"reports"}, "properties": object{"reports": object{"type": list{"array", "null"}, "items": object{
					"type": "object", "properties": object{
						"name": text("The name of its file."), "title": text("Its title."),
						"created": object{"type": "string", "format": "date-time"}, "bytes": object{"type": "integer"},
					},
				}}},
			}}},
		}),
	}}
}
