package console

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"sync"
)

// packed holds files as gzip packs them, each from when it is first asked for.
// Safe for concurrent use.
type packed struct {
	mu    sync.Mutex
	files map[string][]byte
}

// of is a file packed.
func (p *packed) of(name string, data []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if small, ok := p.files[name]; ok {
		return small
	}
	if p.files == nil {
		p.files = make(map[string][]byte)
	}
	p.files[name] = pack(data)
	return p.files[name]
}

// pack compresses as well as gzip can.
func pack(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return data
	}
	if _, err := w.Write(data); err != nil {
		return data
	}
	if err := w.Close(); err != nil {
		return data
	}
	return out.Bytes()
}

// acceptsGzip reads an Accept-Encoding header (RFC 9110 §12.5.3).
func acceptsGzip(header string) bool {
	all := false
	for one := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(one, ";")
		wanted := true
		if q, ok := strings.CutPrefix(strings.TrimSpace(weight), "q="); ok {
			value, err := strconv.ParseFloat(q, 64)
			wanted = err == nil && value > 0
		}
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip":
			return wanted
		case "*":
			all = wanted
		}
	}
	return all
}
