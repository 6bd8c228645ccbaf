package cypher_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	messages "github.com/cucumber/messages/go/v28"

	"github.com/triplemesh/triplemesh/internal/cypher"
)

// world is the state that the steps of one scenario share.
type world struct {
	graph  *cypher.Graph
	params map[string]cypher.Value
	before snapshot
	result cypher.Result
	err    error
}

// run executes a scenario and returns the reason why it does not pass.
func run(scenario *messages.Pickle) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	w := &world{params: map[string]cypher.Value{}}
	for _, step := range scenario.Steps {
		if err := w.step(step); err != nil {
			return fmt.Errorf("%s: %w", step.Text, err)
		}
	}
	return nil
}

var raised = regexp.MustCompile(`^an? (\w+) should be raised at (compile time|runtime|any time): (\S+)$`)

func (w *world) step(step *messages.PickleStep) error {
	text := strings.TrimSuffix(step.Text, ":")
	switch {
	case text == "an empty graph", text == "any graph":
		w.graph = cypher.NewGraph(cypher.DefaultLimits())
	case text == "having executed":
		_, err := w.query(step)
		return err
	case text == "parameters are":
		return w.setParams(step)
	case text == "executing query", text == "executing control query":
		w.before = snapshotOf(w.graph)
		w.result, w.err = w.query(step)
	case text == "the result should be empty":
		return w.expectRows(nil, false, false)
	case text == "the result should be, in any order":
		return w.expectRows(step.Argument.DataTable, false, false)
	case text == "the result should be, in order":
		return w.expectRows(step.Argument.DataTable, true, false)
	case text == "the result should be (ignoring element order for lists)":
		return w.expectRows(step.Argument.DataTable, false, true)
	case text == "the result should be, in order (ignoring element order for lists)":
		return w.expectRows(step.Argument.DataTable, true, true)
	case text == "no side effects":
		return w.expectEffects(nil)
	case text == "the side effects should be":
		return w.expectEffects(step.Argument.DataTable)
	case raised.MatchString(text):
		return w.expectError(raised.FindStringSubmatch(text))
	default:
		return errors.New("the step is not supported")
	}
	return nil
}

func (w *world) query(step *messages.PickleStep) (cypher.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return w.graph.Run(ctx, step.Argument.DocString.Content, w.params)
}

func (w *world) setParams(step *messages.PickleStep) error {
	for _, row := range step.Argument.DataTable.Rows {
		v, err := parseValue(row.Cells[1].Value)
		if err != nil {
			return err
		}
		w.params[row.Cells[0].Value] = v
	}
	return nil
}

func (w *world) expectError(want []string) error {
	var got *cypher.Error
	if !errors.As(w.err, &got) {
		return fmt.Errorf("got %w", w.err)
	}
	kind, phase, detail := want[1], want[2], want[3]
	if got.Kind != kind || phase != "any time" && string(got.Phase) != phase || detail != "*" && got.Detail != detail {
		return fmt.Errorf("got %w", got)
	}
	return nil
}

// expectRows compares the result with a table; nil is no columns at all.
func (w *world) expectRows(table *messages.PickleTable, ordered, loose bool) error {
	if w.err != nil {
		return w.err
	}
	if table == nil {
		if len(w.result.Columns) > 0 || len(w.result.Rows) > 0 {
			return fmt.Errorf("got columns %v", w.result.Columns)
		}
		return nil
	}
	header := table.Rows[0].Cells
	columns := make([]int, len(header))
	for i, cell := range header {
		columns[i] = slices.Index(w.result.Columns, cell.Value)
	}
	if slices.Contains(columns, -1) || len(header) != len(w.result.Columns) {
		return fmt.Errorf("got columns %q", w.result.Columns)
	}
	var want, got []string
	for _, row := range table.Rows[1:] {
		cells := make([]string, len(row.Cells))
		for i, cell := range row.Cells {
			v, err := parseValue(cell.Value)
			if err != nil {
				return err
			}
			cells[i] = canonical(v, loose)
		}
		want = append(want, strings.Join(cells, " | "))
	}
	for _, row := range w.result.Rows {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = canonical(row[column], loose)
		}
		got = append(got, strings.Join(cells, " | "))
	}
	if !ordered {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}
