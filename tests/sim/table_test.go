package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is the result of all simulations of a kind.
type row struct {
	kind      kind
	seeds     int
	failed    int
	questions int
	ends      map[string]int
	lost      int
	recovered []time.Duration
}

func (r *row) add(of result) {
	if r.ends == nil {
		r.ends = map[string]int{}
	}
	r.seeds++
	if len(of.wrong) > 0 {
		r.failed++
	}
	for _, end := range of.ends {
		r.questions++
		r.ends[end]++
	}
	for _, text := range of.wrong {
		if strings.Contains(text, "LOST") {
			r.lost++
		}
	}
	r.recovered = append(r.recovered, of.recovered)
}

// table renders rows in Markdown.
func table(rows []row) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "\n| kind\t| seeds\t| failed\t| questions\t| complete\t| partial\t| codes\t| lost\t| recovered "+
		"after: min\t| median\t| max\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, r := range rows {
		if r.seeds == 0 {
			continue // this kind did not run
		}
		slices.Sort(r.recovered)
		var codes []string
		for _, end := range slices.Sorted(maps.Keys(r.ends)) {
			if end != whole && end != partial {
				codes = append(codes, fmt.Sprintf("%d %s", r.ends[end], end))
			}
		}
		at := func(share float64) time.Duration {
			return r.recovered[int(share*float64(len(r.recovered)-1))].Round(time.Millisecond)
		}
		fmt.Fprintf(w, "| %s\t| %d\t| %d\t| %d\t| %d\t| %d\t| %s\t| %d\t| %v\t| %v\t| %v\t|\n",
			r.kind.name, r.seeds, r.failed, r.questions, r.ends[whole], r.ends[partial], strings.Join(codes, ", "),
			r.lost, at(0), at(.5), at(1))
	}
	w.Flush()
	return text.String()
}
