package load

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseRates reads a list of rates: each is a number, or FROM..TO, which is
// FROM, twice that, and so on up to TO.
func ParseRates(text string) ([]float64, error) {
	var rates []float64
	for part := range strings.SplitSeq(text, ",") {
		from, to, ramp := strings.Cut(strings.TrimSpace(part), "..")
		first, err := parseRate(from)
		if err != nil {
			return nil, err
		}
		last := first
		if ramp {
			if last, err = parseRate(to); err != nil {
				return nil, err
			}
			if last < first {
				return nil, fmt.Errorf("rates %s: the first is above the last", part)
			}
		}
		for rate := first; rate < last; rate *= 2 {
			rates = append(rates, rate)
		}
		rates = append(rates, last)
	}
	return rates, nil
}

// fastest is the highest rate that can be asked for: no machine asks more often.
const fastest = 1e6

func parseRate(text string) (float64, error) {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate > 1/fastest && rate <= fastest) {
		return 0, fmt.Errorf("rate %q: want questions per second, above 0 and up to %g", text, fastest)
	}
	return rate, nil
}
