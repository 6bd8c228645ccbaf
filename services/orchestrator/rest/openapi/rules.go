package openapi

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"go.yaml.in/yaml/v3"
)

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
