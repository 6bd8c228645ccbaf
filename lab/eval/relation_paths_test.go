package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRelationPaths(t *testing.T) {
	t.Parallel()
	const line = `{"id": "q1", "question": "who?", "paths": [["people.person.parents", "people.person.gender"], ["r"]]}`
	for _, c := range []struct{ name, in string }{
		{"one question a line", line + "\n"},
		{"a last line without its end", line},
		{"line ends of Windows and a byte order mark", "\ufeff" + line + "\r\n\r\n"},
		{"a path without relations", `{"id": "q1", "paths": [[], ["a", "people.person.gender"], [], ["r"]]}`},
		{"a question without paths beside it", line + "\n" + `{"id": "q2", "paths": []}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseRelationPaths(strings.NewReader(c.in))
			if err != nil {
				t.Fatal(err)
			}
			paths := got["q1"]
			if len(paths) != 2 || len(paths[0].GetSteps()) != 2 ||
				paths[0].GetSteps()[1].GetRelation() != "people.person.gender" ||
				paths[1].GetSteps()[0].GetRelation() != "r" {
				t.Errorf("got %v", paths)
			}
		})
	}
}

func TestRelationPathsNameLineAndField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"an empty file", "\n", []string{"no relation paths"}},
		{"no JSON", "x", []string{"line 1: is no object with id and paths"}},
		{"no id", `{"paths": []}`, []string{`line 1: field "id": missing`}},
		{"no paths", `{"id": "1"}`, []string{`line 1: field "paths": missing`}},
		{"one path that is no list", `{"id": "1", "paths": ["r"]}`, []string{"line 1:", "list of lists"}},
		{"a path that is too long", `{"id": "1", "paths": [["1","2","3","4","5","6","7","8","9"]]}`,
			[]string{"path 1 has 9 relations, must have at most 8"}},
		{"a relation without name", `{"id": "1", "paths": [[""]]}`, []string{"path 1 has a relation that is empty"}},
		{"too many paths", `{"id": "1", "paths": [` + strings.Repeat(`["r"],`, 64) + `["r"]]}`,
			[]string{"has 65 paths, 64 at most"}},
		{"an id used twice", `{"id": "1", "paths": []}` + "\n" + `{"id": "1", "paths": []}`,
			[]string{`line 2: field "id": "1" is the id of line 1 too`}},
		{"bytes that are no text", "{\"id\": \"\xff\"}", []string{"line 1: is not UTF-8"}},
		{"a line without end", strings.Repeat(" ", maxLine+1), []string{"line 1: longer than 16 MiB"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			paths, err := parseRelationPaths(strings.NewReader(c.in))
			if err == nil || paths != nil {
				t.Fatalf("got %v, %v", paths, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestRelationPathsAreSummed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "paths.jsonl")
	if err := os.WriteFile(path, []byte(`{"id": "1", "paths": [["r"]]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, sum, err := readRelationPaths(path)
	if err != nil || len(sum) != 64 {
		t.Errorf("sum %q, error %v", sum, err)
	}
	if _, _, err := readRelationPaths(path + ".gone"); err == nil || !strings.Contains(err.Error(), path+".gone") {
		t.Errorf("error %v does not name the file", err)
	}
}

func FuzzRelationPaths(f *testing.F) {
	f.Add(`{"id": "1", "paths": [["a", "b"], ["c"]]}` + "\r\n" + `{"id": "2", "paths": []}`)
	f.Add("\ufeff{\"id\": \"a\", \"paths\": [[\"\"]]}")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseRelationPaths(strings.NewReader(text))
		if (err == nil) != (len(all) > 0) {
			t.Fatalf("%d questions and error %v", len(all), err)
		}
		for id, paths := range all {
			if id == "" || len(paths) > maxPaths {
				t.Fatalf("let pass %q with %v", id, paths)
			}
			for _, path := range paths {
				if n := len(path.GetSteps()); n == 0 || n > maxSteps {
					t.Fatalf("let pass a path of %d steps", n)
				}
			}
		}
	})
}
