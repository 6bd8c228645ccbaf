package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// scripts are the peers' programs and the packages they need.
//
//go:embed peers/*.py peers/requirements.txt
var scripts embed.FS

// peers are other programs that do what the engine does, run by Python.
type peers struct {
	python string // of a virtual environment that has what they need
	dir    string // where their programs were written to
}

// newPeers sets a virtual environment up below dir, once for each set of
// requirements.
func newPeers(ctx context.Context, dir, python string, say func(string, ...any)) (*peers, error) {
	requirements, err := scripts.ReadFile("peers/requirements.txt")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(requirements)
	venv := filepath.Join(dir, hex.EncodeToString(sum[:6]))
	p := &peers{python: filepath.Join(venv, "bin", "python"), dir: filepath.Join(venv, "peers")}
	if err := p.write(); err != nil {
		return nil, err
	}
	done := filepath.Join(venv, "complete")
	if _, err := os.Stat(done); err == nil {
		return p, nil
	}
	say("fetching the peers' packages into %s", venv)
	for _, step := range [][]string{
		{python, "-m", "venv", venv},
		{p.python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--require-hashes", "-r",
			filepath.Join(p.dir, "requirements.txt")},
	} {
		if said, err := exec.CommandContext(ctx, step[0], step[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("set the peers up: %s: %w; mend it, or leave them out with --no-peers\n%s",
				strings.Join(step, " "), err, lastLines(said, 5))
		}
	}
	return p, os.WriteFile(done, nil, 0o644)
}

func (p *peers) write() error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return fmt.Errorf("set the peers up: %w", err)
	}
	files, err := scripts.ReadDir("peers")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := scripts.ReadFile("peers/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(p.dir, f.Name()), text, 0o644); err != nil {
			return fmt.Errorf("set the peers up: %w", err)
		}
	}
	return nil
}

// peer is one of them, running.
type peer struct {
	name string
	in   io.WriteCloser
	out  *bufio.Reader
	said *bytes.Buffer
	cmd  *exec.Cmd
}

// start runs a peer's program until stop.
func (p *peers) start(ctx context.Context, name string, env ...string) (*peer, error) {
	cmd := exec.CommandContext(ctx, p.python, filepath.Join(p.dir, name+".py"))
	cmd.Env = append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), env...)
	said := &bytes.Buffer{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start peer %s: %w", name, err)
	}
	return &peer{name: name, in: in, out: bufio.NewReaderSize(out, 1<<20), said: said, cmd: cmd}, nil
}

// stop ends it.
func (p *peer) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// reply is what peers answer.
type reply struct {
	Error   string      `json:"error"`
	MS      []float64   `json:"ms"`
	Rows    any         `json:"rows"`
	Scores  [][]float32 `json:"scores"`
	Walks   int         `json:"walks"`
	Edges   int         `json:"edges"`
	Version string      `json:"version"`
}

// ask sends one request and waits for its answer.
func (p *peer) ask(request map[string]any) (reply, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return reply{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return reply{}, fmt.Errorf("peer %s is gone: %w\n%s", p.name, err, lastLines(p.said.Bytes(), 5))
	}
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		if errors.Is(err, io.EOF) {
			_ = p.cmd.Wait()
		}
		return reply{}, fmt.Errorf("peer %s is gone: %w\n%s", p.name, err, lastLines(p.said.Bytes(), 5))
	}
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("peer %s answered %.80q: %w", p.name, text, err)
	}
	if r.Error != "" {
		return r, fmt.Errorf("peer %s: %s", p.name, r.Error)
	}
	return r, nil
}

// contestant asks the same request each time and goes by the peer's own clock.
func (p *peer) contestant(name, note string, request map[string]any) (contestant, *reply) {
	last := &reply{}
	return contestant{name: name, note: note, run: func(context.Context) (time.Duration, error) {
		r, err := p.ask(request)
		if err != nil {
			return 0, err
		}
		*last = r
		total := 0.0
		for _, ms := range r.MS {
			total += ms
		}
		return time.Duration(total * float64(time.Millisecond)), nil
	}}, last
}

func lastLines(said []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
