package misbehaviour

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Asked is what a client asked.
type Asked struct {
	Stream                          bool
	Model, System, Question, Prompt string
	// Answer is what would be said if nothing were done wrong.
	Answer string
}

// Play does wrong on a connection, until all is done, the client has gone, or
// ended is closed. It returns how many bytes the connection took.
func (f Fixture) Play(conn net.Conn, asked Asked, ended <-chan struct{}) int64 {
	defer conn.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, conn) // until the client closes it, or we
	}()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-ended:
			conn.Close()
		case <-stop:
		}
	}()
	p := &player{conn: conn, asked: asked, gone: gone, head: true}
	lines, say := f.script(asked.Stream)
	if say {
		p.json = false
		p.say(lines)
	} else {
		p.json = true
		p.play(lines)
	}
	if p.chunked && !p.over {
		p.raw([]byte("0\r\n\r\n"))
	}
	return p.sent
}

// player plays one script.
type player struct {
	conn  net.Conn
	asked Asked
	gone  <-chan struct{}

	json     bool // what is put in is escaped
	head     bool // before the first empty line
	chunked  bool
	crlf     bool
	bytewise bool
	piece    string
	sent     int64
	over     bool
	spoken   *strings.Builder // collects instead of sending
}

// play plays lines.
func (p *player) play(lines []string) {
	for i := 0; i < len(lines) && !p.over; i++ {
		word, arg, _ := strings.Cut(lines[i], " ")
		switch word {
		case "@repeat", "@forever", "@pieces":
			block := until(lines[i+1:])
			i += len(block) + 1
			p.loop(word, arg, block)
		default:
			if !p.do(word, arg) {
				p.line(lines[i])
			}
		}
	}
}

// until is what stands before the @end of a block.
func until(lines []string) []string {
	depth := 0
	for i, l := range lines {
		switch word, _, _ := strings.Cut(l, " "); word {
		case "@repeat", "@forever", "@pieces":
			depth++
		case "@end":
			if depth == 0 {
				return lines[:i]
			}
			depth--
		}
	}
	return lines
}

func (p *player) loop(word, arg string, block []string) {
	switch word {
	case "@repeat":
		n, _ := strconv.Atoi(arg)
		for range n {
			p.play(block)
		}
	case "@forever":
		for !p.over {
			p.play(block)
		}
	case "@pieces":
		for _, piece := range strings.SplitAfter(p.asked.Answer, " ") {
			p.piece = piece
			p.play(block)
		}
	}
}

// do does what a directive says; false where the word is none.
func (p *player) do(word, arg string) bool {
	switch word {
	case "@wait":
		d, _ := time.ParseDuration(arg)
		select {
		case <-time.After(d):
		case <-p.gone:
			p.over = true
		}
	case "@bytewise":
		p.bytewise = true
	case "@crlf":
		p.crlf = true
	case "@hex":
		b, _ := hex.DecodeString(strings.ReplaceAll(arg, " ", ""))
		p.body(b)
	case "@gzip":
		n, _ := strconv.Atoi(arg)
		p.body(bomb(n))
	case "@hang":
		<-p.gone
		p.over = true
	case "@reset":
		if tcp, ok := p.conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		p.over = true
	default:
		return false
	}
	return true
}

// line sends a line.
func (p *player) line(line string) {
	line, open := strings.CutSuffix(line, "\\")
	line = p.fill(line)
	if p.head && p.spoken == nil {
		p.chunked = p.chunked || strings.EqualFold(line, "Transfer-Encoding: chunked")
		p.head = line != ""
		p.raw([]byte(line + "\r\n"))
		return
	}
	switch {
	case open:
	case p.crlf:
		line += "\r\n"
	default:
		line += "\n"
	}
	p.body([]byte(line))
}

func (p *player) body(b []byte) {
	switch {
	case p.spoken != nil:
		p.spoken.Write(b)
	case p.chunked && len(b) > 0:
		p.raw(fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b))
	default:
		p.raw(b)
	}
}

func (p *player) raw(b []byte) {
	step := len(b)
	if p.bytewise {
		step = 1
	}
	for len(b) > 0 && !p.over {
		n, err := p.conn.Write(b[:min(step, len(b))])
		p.sent += int64(n)
		p.over = err != nil
		b = b[min(step, len(b)):]
	}
}

// fill puts in what was asked.
func (p *player) fill(line string) string {
	for {
		before, rest, found := strings.Cut(line, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			return line
		}
		line = before + p.value(name) + after
	}
}

func (p *player) value(name string) string {
	word, arg, _ := strings.Cut(name, " ")
	value := map[string]string{
		"model": p.asked.Model, "system": p.asked.System, "question": p.asked.Question,
		"prompt": p.asked.Prompt, "answer": p.asked.Answer, "piece": p.piece,
	}[word]
	if word == "date" {
		d, _ := time.ParseDuration(arg)
		return time.Now().Add(d).UTC().Format(http.TimeFormat)
	}
	value = strings.ReplaceAll(value, "{{", "{ {") // no filling of what was filled in
	if !p.json {
		return value
	}
	quoted, _ := json.Marshal(value) // a string always marshals
	return string(quoted[1 : len(quoted)-1])
}

// say sends a text as a server does that does nothing wrong.
func (p *player) say(lines []string) {
	var text strings.Builder
	p.spoken, p.head = &text, false
	finish := "stop"
	if reason, ok := strings.CutPrefix(lines[0], "@finish "); ok {
		finish, lines = reason, lines[1:]
	}
	p.play(lines)
	p.spoken = nil
	said := strings.TrimSuffix(text.String(), "\n")
	content, _ := json.Marshal(said)
	usage := `"usage":{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}`
	if !p.asked.Stream {
		p.raw(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"+
			`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],%s}`, content, finish, usage))
		return
	}
	p.raw([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"))
	for _, piece := range strings.SplitAfter(said, " ") {
		content, _ := json.Marshal(piece)
		p.raw(fmt.Appendf(nil, "data: {\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":null}]}\n\n", content))
	}
	p.raw(fmt.Appendf(nil, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: {\"choices\":[],%s}\n\ndata: [DONE]\n\n", finish, usage))
}

// bomb is an answer of so many MiB, gzipped.
func bomb(mib int) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // a level there is
	_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"`)
	for range mib {
		_, _ = io.WriteString(w, strings.Repeat("a", 1<<20))
	}
	_ = w.Close()
	return out.Bytes()
}
