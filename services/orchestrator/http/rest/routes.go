package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

// routes are the paths of the operations of the OpenAPI document.
type routes []route

// route is one path with its operations by HTTP method.
type route struct {
	path       *regexp.Regexp
	operations map[string]operation
}

// operation describes a request.
type operation struct {
	ID         string      `json:"operationId"`
	Parameters []parameter `json:"parameters"`
}

// parameter is a path or query parameter.
type parameter struct {
	Name string `json:"name"`
	In   string `json:"in"`
	// Field is the path of the field in the message.
	Field    string `json:"x-field"`
	Required bool   `json:"required"`
	Schema   struct {
		Type any `json:"type"`
	} `json:"schema"`
}

var variable = regexp.MustCompile(`\\\{[A-Za-z]+\\\}`)

func readRoutes(document []byte) (routes, error) {
	var d struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	var all routes
	for path, operations := range d.Paths {
		r := route{operations: map[string]operation{}}
		// A custom verb follows a colon, which no name contains.
		r.path = regexp.MustCompile("^" + variable.ReplaceAllString(regexp.QuoteMeta(path), "([^/:]+)") + "$")
		for verb, operation := range operations {
			r.operations[strings.ToUpper(verb)] = operation
		}
		all = append(all, r)
	}
	return all, nil
}

// find returns the operation of a request. If there is none it has already responded.
func (all routes) find(w http.ResponseWriter, r *http.Request) (route, operation, bool) {
	i := slices.IndexFunc(all, func(at route) bool { return at.path.MatchString(r.URL.Path) })
	if i < 0 {
		problem.Write(w, r, problem.New(http.StatusNotFound, codes.NotFound,
			"there is nothing here; /api/openapi.json tells what there is"))
		return route{}, operation{}, false
	}
	op, ok := all[i].operations[r.Method]
	if !ok {
		var verbs []string
		for verb := range all[i].operations {
			verbs = append(verbs, verb)
		}
		slices.Sort(verbs)
		w.Header().Set("Allow", strings.Join(verbs, ", "))
		problem.Write(w, r, problem.New(http.StatusMethodNotAllowed, codes.Unimplemented,
			fmt.Sprintf("%.20s cannot be done here: %s can", r.Method, strings.Join(verbs, " and "))))
	}
	return all[i], op, ok
}

// variable returns the value of the only path variable.
func (r route) variable(path string) string { return r.path.FindStringSubmatch(path)[1] }

// takeQuery sets the message fields of query parameters. It rejects unknown parameters.
func (op operation) takeQuery(w http.ResponseWriter, r *http.Request) bool {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		problem.Write(w, r, problem.New(http.StatusBadRequest, codes.InvalidArgument, "the query cannot be read: "+
			err.Error()))
		return false
	}
	taken, wrong := op.query(given)
	if wrong.Field != "" {
		p := problem.New(http.StatusBadRequest, codes.InvalidArgument, fmt.Sprintf("parameter %.100q of the query: %s",
			wrong.Field, wrong.Description))
		p.Violations = []problem.Violation{wrong}
		problem.Write(w, r, p)
		return false
	}
	r.URL.RawQuery = taken.Encode()
	return true
}

// query returns the query values by field, or the first invalid one.
func (op operation) query(given url.Values) (taken url.Values, wrong problem.Violation) {
	taken = url.Values{}
	for _, p := range op.Parameters {
		values := given[p.Name]
		switch {
		case p.In != "query":
			continue
		case len(values) > 1 && p.Schema.Type != "array":
			return nil, problem.Violation{Field: p.Name, Description: "it is given more than once"}
		case len(values) > 0:
			taken[p.Field] = values
		case p.Required:
			return nil, problem.Violation{Field: p.Name, Description: "it must be given"}
		}
		delete(given, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		return nil, problem.Violation{Field: name, Description: op.lacks()}
	}
	return taken, problem.Violation{}
}

func (op operation) lacks() string {
	var names []string
	for _, p := range op.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return "there is no such parameter, nor any other, here"
	}
	return "there is no such parameter here; there are " + strings.Join(names, ", ")
}
