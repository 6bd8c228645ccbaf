package llama

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

const (
	probeTokens = 12
	probeTime   = 2 * time.Second
)

// decodeRate has the model write a few tokens and returns how many a second it
// wrote, 0 where it wrote none. The wait for the first one, which is the
// prompt's, does not count.
func (s *Server) decodeRate(ctx context.Context) float64 {
	ctx, cancel := context.WithTimeout(ctx, 3*probeTime)
	defer cancel()
	body := []byte(`{"prompt": "1 2 3 4 5 6 7 8", "n_predict": 13, "temperature": 0, "stream": true, "ignore_eos": true}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.root()+"/completion", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	var first time.Time
	tokens := 0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "data:") {
			continue
		}
		if first.IsZero() {
			first = time.Now()
			continue
		}
		tokens++
		if tokens == probeTokens || time.Since(first) > probeTime {
			break
		}
	}
	if tokens == 0 {
		return 0
	}
	return float64(tokens) / time.Since(first).Seconds()
}
