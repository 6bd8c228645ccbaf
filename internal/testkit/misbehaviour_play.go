package testkit

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

// misbehaviourCall is what a client asked.
type misbehaviourCall struct {
	Stream                          bool
	Model, System, Question, Prompt string
	// Answer is what would be said if nothing were done wrong.
	Answer string
}

// Play replays the fixture on a connection until the script ends, the client disconnects or ended is
// closed. It returns the number of bytes written.
func (f Misbehaviour) Play(conn net.Conn, asked misbehaviourCall, ended <-chan struct{}) int64 {
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
	p := &player{conn: conn, call: asked, gone: gone, head: true}
	lines, say := f.script(asked.Stream)
	if say {
		p.json = false
		p.say(lines)
	} else {
		p.json = true
		p.play(lines)
	}
	if p.chunked && !p.ended {
		p.raw([]byte("0\r\n\r\n"))
	}
	return p.sentBytes
}

// player plays one script.
type player struct {
	conn net.Conn
	call misbehaviourCall
	gone <-chan struct{}

	json      bool // what is put in is escaped
	head      bool // before the first empty line
	chunked   bool
	crlf      bool
	bytewise  bool
	piece     string
	sentBytes int64
	ended     bool
	collected *strings.Builder // collects instead of sending
}

// play plays lines.
func (p *player) play(lines []string) {
	for i := 0; i < len(lines) && !p.ended; i++ {
		word, arg, _ := strings.Cut(lines[i], " ")
		switch word {
		case "@repeat", "@forever", "@pieces":
			block := readBlock(lines[i+1:])
			i += len(block) + 1
			p.loop(word, arg, block)
		default:
			if !p.do(word, arg) {
				p.line(lines[i])
			}
		}
	}
}

// readBlock returns the lines before the @end of a block.
func readBlock(lines []string) []string {
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
		for !p.ended {
			p.play(block)
		}
	case "@pieces":
		for _, piece := range strings.SplitAfter(p.call.Answer, " ") {
			p.piece = piece
			p.play(block)
		}
	}
}

// do executes a directive. It returns false if the word is not a directive.
func (p *player) do(word, arg string) bool {
	switch word {
	case "@wait":
		d, _ := time.ParseDuration(arg)
		select {
		case <-time.After(d):
		case <-p.gone:
			p.ended = true
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
		p.ended = true
	case "@reset":
		if tcp, ok := p.conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		p.ended = true
	default:
		return false
	}
	return true
}

// line sends a line.
func (p *player) line(line string) {
	line, open := strings.CutSuffix(line, "\\")
	line = p.fill(line)
	if p.head && p.collected == nil {
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
	case p.collected != nil:
		p.collected.Write(b)
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
	for len(b) > 0 && !p.ended {
		n, err := p.conn.Write(b[:min(step, len(b))])
		p.sentBytes += int64(n)
		p.ended = err != nil
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
		"model": p.call.Model, "system": p.call.System, "question": p.call.Question,
		"prompt": p.call.Prompt, "answer": p.call.Answer, "piece": p.piece,
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

// say sends a text as a correct server does.
func (p *player) say(lines []string) {
	var text strings.Builder
	p.collected, p.head = &text, false
	finish := "stop"
	if reason, ok := strings.CutPrefix(lines[0], "@finish "); ok {
		finish, lines = reason, lines[1:]
	}
	p.play(lines)
	p.collected = nil
	said := strings.TrimSuffix(text.String(), "\n")
	content, _ := json.Marshal(said)
	usage := `"usage":{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}`
	if !p.call.Stream {
		p.raw(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"+
			`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":%s},"finish_reason":%q}],%s}`, content, finish, usage))
		return
	}
	p.raw([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"))
	for _, piece := range strings.SplitAfter(said, " ") {
		content, _ := json.Marshal(piece)
		p.raw(fmt.Appendf(nil,
			"data: "+`{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":%s},`+
				`"finish_reason":null}]}`+"\n\n", content))
	}
	p.raw(fmt.Appendf(nil, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: "+
		"{\"choices\":[],%s}\n\ndata: [DONE]\n\n", finish, usage))
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
