package eval

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// relationPaths are the relation paths to be given with each question, by its
// id: what another planner planned, so that retrieval is measured apart from
// this one's.
type relationPaths map[string][]*graphv1.RelationPath

// The contract's bounds, and that of a line in bytes.
const (
	maxPaths    = 64
	maxSteps    = 8
	maxRelation = 65536
	maxLine     = 16 << 20
	maxProblems = 10
)

// readRelationPaths reads a file of relation paths, and sums it.
func readRelationPaths(path string) (relationPaths, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", fmt.Errorf("read relation paths: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	paths, err := parseRelationPaths(io.TeeReader(file, sum))
	if err != nil {
		return nil, "", fmt.Errorf("read relation paths %s: %w", path, err)
	}
	return paths, hex.EncodeToString(sum.Sum(nil)), nil
}

// parseRelationPaths reads JSON Lines of relation paths: one object a line with
// id and paths, a list of lists of relations. Other fields, blank lines, line
// ends of Windows and a byte order mark are passed over, and so are paths
// without relations, which planners write too. A question with no paths is let
// pass; the method then does what it does without. The error names up to ten
// bad lines, each with its field.
func parseRelationPaths(r io.Reader) (relationPaths, error) {
	out := make(relationPaths)
	var problems []error
	firstLine := make(map[string]int)
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for lines.Scan() && len(problems) < maxProblems {
		number++
		line := lines.Bytes()
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		id, paths, err := parsePathsOfQuestion(line)
		if err == nil && firstLine[id] != 0 {
			err = fmt.Errorf("field \"id\": %q is the id of line %d too", id, firstLine[id])
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", number, err))
			continue
		}
		firstLine[id] = number
		out[id] = paths
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		problems = append(problems,
			fmt.Errorf("line %d: longer than %d MiB; put the paths of one question on each line",
				number+1, maxLine>>20))
	case err != nil:
		problems = append(problems, fmt.Errorf("after line %d: %w", number, err))
	case len(problems) == 0 && len(out) == 0:
		problems = append(problems, errors.New("there are no relation paths in it"))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return out, nil
}

func parsePathsOfQuestion(line []byte) (string, []*graphv1.RelationPath, error) {
	if !utf8.Valid(line) {
		return "", nil, errors.New("is not UTF-8; save the file as UTF-8")
	}
	var q struct {
		ID    string     `json:"id"`
		Paths [][]string `json:"paths"`
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return "", nil, fmt.Errorf(`is no object with id and paths, a list of lists of relations: %w`, err)
	}
	switch {
	case q.ID == "":
		return "", nil, errors.New(`field "id": missing or empty`)
	case q.Paths == nil:
		return "", nil, errors.New(`field "paths": missing`)
	case len(q.Paths) > maxPaths:
		return "", nil, fmt.Errorf(`field "paths": has %d paths, %d at most can be given`, len(q.Paths), maxPaths)
	}
	paths := make([]*graphv1.RelationPath, 0, len(q.Paths))
	for i, relations := range q.Paths {
		if len(relations) > maxSteps {
			return "", nil, fmt.Errorf(`field "paths": path %d has %d relations, must have at most %d`, i+1,
				len(relations), maxSteps)
		}
		if len(relations) == 0 {
			continue
		}
		path := &graphv1.RelationPath{}
		for _, relation := range relations {
			if relation == "" || len(relation) > maxRelation {
				return "", nil, fmt.Errorf(`field "paths": path %d has a relation that is empty or too long`, i+1)
			}
			path.Steps = append(path.Steps, &graphv1.RelationStep{Relation: relation})
		}
		paths = append(paths, path)
	}
	return q.ID, paths, nil
}
