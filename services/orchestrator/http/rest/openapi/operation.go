package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

// add adds what a method does at one place; nth counts its places.
func (c *contract) add(paths object, r rule, nth int) error {
	m, ok := c.methods[r.Selector]
	if !ok {
		return errors.New("the contract has no such method")
	}
	verb, path, err := r.place()
	if err != nil {
		return err
	}
	fields := variables(path)
	op := operation(m)
	if nth > 0 {
		op["operationId"] = m.GoName + "By" + name(fields)
	}
	parameters := list{}
	for _, field := range fields {
		f, err := find(m.Input, field)
		if err != nil {
			return err
		}
		s := c.field(f, in)
		delete(s, "description")
		parameters = append(parameters, object{
			"name": parameter(field), "in": "path", "required": true, "schema": s,
			"description": commentText(f.Comments.Leading),
		})
		path = strings.ReplaceAll(path, "{"+field+"}", "{"+parameter(field)+"}")
	}
	switch r.Body {
	case "":
		parameters = append(parameters, c.query(m.Input, fields, "")...)
	case "*":
		op["requestBody"] = body(c.fields(m.Input, in, fields))
	default:
		f, err := find(m.Input, r.Body)
		if err != nil {
			return err
		}
		if below, _ := pathsBelow(r.Body, fields); below != nil {
			op["requestBody"] = body(c.fields(f.Message, in, below))
		} else {
			op["requestBody"] = body(c.message(f.Message, in))
		}
		parameters = append(parameters, c.query(m.Input, append(fields, r.Body), r.Body)...)
	}
	if len(parameters) > 0 {
		op["parameters"] = parameters
	}
	ok200 := object{"description": commentText(m.Output.Comments.Leading),
		"headers": object{"X-Request-Id": requestIDHeader}}
	if m.Desc.IsStreamingServer() {
		ok200["content"] = c.events(m.Output)
	} else {
		ok200["content"] = object{"application/json": object{"schema": c.message(m.Output, out)}}
	}
	op["responses"] = responses(ok200)
	at, _ := paths[path].(object)
	if at == nil {
		at = object{}
		paths[path] = at
	}
	if at[verb] != nil {
		return fmt.Errorf("%s %s is taken", verb, path)
	}
	at[verb] = op
	return nil
}

// operation is what is known of a method wherever it is.
func operation(m *protogen.Method) object {
	text := commentText(m.Comments.Leading)
	summary, _, _ := strings.Cut(text, ": ")
	summary, _, _ = strings.Cut(summary, ". ")
	op := object{
		"operationId": m.GoName, "tags": list{string(m.Parent.Desc.Name())},
		"summary": strings.TrimSuffix(strings.SplitN(summary, "\n", 2)[0], "."), "description": text,
	}
	if scope, ok := proto.GetExtension(m.Desc.Options(), authv1.E_Scope).(authv1.Scope); ok {
		op["description"] = text + "\n\nNeeds the scope " +
			strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(scope.String(), "SCOPE_")), "_", ":") + "."
	}
	return op
}

// query are the parameters of the fields that are neither in the path nor in the body. Those of a
// message of which the path has a part go by their own names; where they belong is in x-field.
func (c *contract) query(m *protogen.Message, taken []string, body string) list {
	var all list
	for _, f := range m.Fields {
		field := string(f.Desc.Name())
		below, left := pathsBelow(field, taken)
		switch {
		case left || field == body:
		case below != nil:
			for _, inner := range f.Message.Fields {
				if !slices.Contains(below, string(inner.Desc.Name())) {
					all = append(all, c.queried(inner, field+"."+string(inner.Desc.Name())))
				}
			}
		case f.Message == nil:
			all = append(all, c.queried(f, field))
		}
	}
	return all
}

func (c *contract) queried(f *protogen.Field, path string) object {
	s := c.field(f, in)
	delete(s, "description")
	return object{"name": f.Desc.JSONName(), "in": "query", "schema": s, "description": commentText(f.Comments.Leading),
		"x-field": path}
}

// body is a request's; it may be left out where nothing in it must be there.
func body(s object) object {
	_, required := s["required"]
	if _, referred := s["$ref"]; referred {
		required = true
	}
	return object{"required": required, "content": object{"application/json": object{"schema": s}}}
}

// events is a stream of server-sent events. The schema is that of one of them:
// its data is a message, or for the event error a Problem.
func (c *contract) events(m *protogen.Message) object {
	names := list{}
	for _, f := range m.Fields {
		names = append(names, f.Desc.JSONName())
	}
	return object{"text/event-stream": object{"schema": object{
		"type": "object", "required": list{"event", "data"},
		"description": "One event. Lines that begin with a colon say no more than that the stream is there.",
		"properties": object{
			"event": object{"type": "string", "enum": append(names, "error"),
				"description": "What is set in the message; error is a failure after the stream began."},
			"data": object{"type": "string", "contentMediaType": "application/json",
				"contentSchema": object{"anyOf": list{c.message(m, out), ref("Problem")}}},
		},
	}}}
}

var requestIDHeader = object{
	"description": "Under which the logs have the request.", "schema": object{"type": "string"},
}

// responses are what a request may be answered.
func responses(ok object) object {
	all := object{"200": ok, "default": problemResponse}
	for _, status := range []string{"400", "401", "403", "404", "429", "503"} {
		all[status] = problemResponse
	}
	return all
}

var problemResponse = object{"$ref": "#/components/responses/Problem"}

func find(m *protogen.Message, path string) (*protogen.Field, error) {
	first, rest, deeper := strings.Cut(path, ".")
	for _, f := range m.Fields {
		if string(f.Desc.Name()) != first {
			continue
		}
		if !deeper {
			return f, nil
		}
		return find(f.Message, rest)
	}
	return nil, fmt.Errorf("%s has no field %s", m.Desc.FullName(), path)
}

// parameter is what a field in a path is called: "kg.name" and "kg_name" are kg.
func parameter(field string) string {
	return strings.TrimSuffix(strings.TrimSuffix(field, ".name"), "_name")
}

// name is what fields are called in an operation's id.
func name(fields []string) string {
	var b strings.Builder
	for _, f := range fields {
		p := parameter(f)
		b.WriteString(strings.ToUpper(p[:1]) + p[1:])
	}
	return b.String()
}

// rules are where methods are over HTTP, as google.api.Service has them.
type rules struct {
	HTTP struct {
		Rules []rule `yaml:"rules"`
	} `yaml:"http"`
}

// rule is where one method is.
type rule struct {
	Selector string `yaml:"selector"`
	Get      string `yaml:"get"`
	Post     string `yaml:"post"`
	Delete   string `yaml:"delete"`
	Body     string `yaml:"body"`
	More     []rule `yaml:"additional_bindings"`
}

func readRules(file string) ([]rule, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r struct {
		Type    string `yaml:"type"`
		Version int    `yaml:"config_version"`
		rules   `yaml:",inline"`
	}
	if err := yaml.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r.HTTP.Rules, nil
}

// bindings are all places of a rule, each a rule of its own.
func (r rule) bindings() []rule {
	all := []rule{{Selector: r.Selector, Get: r.Get, Post: r.Post, Delete: r.Delete, Body: r.Body}}
	for _, more := range r.More {
		more.Selector = r.Selector
		all = append(all, more)
	}
	return all
}

// place is the verb of HTTP and the template of the path.
func (r rule) place() (verb, path string, err error) {
	for v, p := range map[string]string{"get": r.Get, "post": r.Post, "delete": r.Delete} {
		if p != "" && path != "" {
			return "", "", errors.New("a rule has one verb")
		}
		if p != "" {
			verb, path = v, p
		}
	}
	if path == "" {
		return "", "", fmt.Errorf("the rule of %s has no path", r.Selector)
	}
	return verb, path, nil
}

var variable = regexp.MustCompile(`\{([a-z_.]+)\}`)

// variables are the fields that a path names: "kg.name".
func variables(path string) []string {
	var names []string
	for _, match := range variable.FindAllStringSubmatch(path, -1) {
		names = append(names, match[1])
	}
	return names
}

// addUpload adds the load of a file, whose body is the file: LoadKnowledgeGraphStream has
// messages of its own for what is in the query here.
func (c *contract) addUpload(paths object) error {
	m, ok := c.methods["triplemesh.retriever.v1.KnowledgeGraphService.LoadKnowledgeGraphStream"]
	if !ok {
		return errors.New("the contract has no LoadKnowledgeGraphStream")
	}
	load := c.methods["triplemesh.retriever.v1.KnowledgeGraphService.LoadKnowledgeGraph"]
	var header, kg, name, file, columns, types *protogen.Field
	for path, field := range map[string]**protogen.Field{"header": &header, "header.kg": &kg, "header.kg.name": &name,
		"file": &file, "file.columns": &columns, "file.columns.types": &types} {
		var err error
		if *field, err = find(load.Input, path); err != nil {
			return err
		}
	}
	s := c.field(name, in)
	delete(s, "description")
	parameters := list{object{"name": "kg", "in": "path", "required": true, "schema": s,
		"description": commentText(kg.Comments.Leading)}}
	parameters = append(parameters, c.query(header.Message, []string{"kg"}, "")...)
	for _, q := range c.query(file.Message, nil, "") {
		q, _ := q.(object)
		if q["name"] == "name" {
			q["name"], q["required"] = "file", true
		}
		parameters = append(parameters, q)
	}
	for _, q := range c.query(columns.Message, nil, "") {
		q, _ := q.(object)
		q["name"] = fmt.Sprintf("columns.%s", q["name"])
		q["x-field"] = fmt.Sprintf("columns.%s", q["x-field"])
		parameters = append(parameters, q)
	}
	for _, p := range parameters {
		p, _ := p.(object)
		s, _ := p["schema"].(object)
		if n, ok := s["maxLength"].(uint64); ok {
			s["maxLength"] = min(n, longest)
		}
	}
	each := object{"type": "string", "pattern": "^.+=COLUMN_TYPE_[A-Z]+(:.+)?$"}
	parameters = append(parameters, object{"name": "columns.types", "x-field": "columns.types", "in": "query",
		"schema": object{"type": "array", "items": each}, "description": commentText(types.Comments.Leading) +
			" Each is such as population=COLUMN_TYPE_NUMBER, or manager_id=COLUMN_TYPE_ENTITY:employee."})
	op := operation(m)
	op["parameters"] = parameters
	op["requestBody"] = object{"required": true, "content": object{
		"application/octet-stream": object{"schema": object{"type": "string", "format": "binary"}},
	}}
	op["responses"] = responses(object{
		"description": commentText(m.Output.Comments.Leading), "headers": object{"X-Request-Id": requestIDHeader},
		"content": c.events(m.Output),
	})
	paths["/api/v1/kgs/{kg}:load"] = object{"post": op}
	return nil
}

// longest is how many characters a text in the query of an upload may have: an
// address has no room for all that the contract allows.
const longest = 255
