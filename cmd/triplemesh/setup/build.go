package setup

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
)

//go:embed llama.cmake
var serverCMake []byte

// builder makes llama-server from its pinned sources.
type builder struct {
	layout   Layout
	pip      pip
	progress *progress.Board
	// lock is handed down to the compiler: should setup be killed, the next
	// one waits until the compiler has ended too.
	lock *os.File
}

// buildStamp says what a llama-server was built from and for.
type buildStamp struct {
	Source string   `json:"source_sha256"`
	Flags  []string `json:"flags"`
	Binary stamp    `json:"binary"`
}

func (b builder) flags() []string {
	flags := []string{
		"-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DGGML_OPENMP=OFF", "-DGGML_CCACHE=OFF",
		"-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF",
		"-DLLAMA_BUILD_UI=OFF", "-DLLAMA_BUILD_APP=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF",
	}
	return append(flags, cpuFlags(runtime.GOARCH)...)
}

// ready reports whether the server that is there is the one that would be
// built: same sources, same flags, and not touched since.
func (b builder) ready() bool {
	var s buildStamp
	if !readInto(b.layout.serverStamp(), &s) || s.Source != serverSource().SHA256 {
		return false
	}
	if strings.Join(s.Flags, " ") != strings.Join(b.flags(), " ") {
		return false
	}
	info, err := os.Stat(b.layout.Server())
	return err == nil && info.Size() == s.Binary.Size && info.ModTime().UnixNano() == s.Binary.ModTime
}

// build fetches the sources unless they are unpacked already, and compiles. A
// build that was cut short goes on where it stopped; one that fails is tried
// once more from a clean folder, since a machine that lost its power leaves
// half-written object files behind.
func (b builder) build(ctx context.Context) error {
	if b.ready() {
		return nil
	}
	if err := haveCompiler(); err != nil {
		return err
	}
	src := filepath.Join(b.layout.serverDir(), "src-"+serverSource().Version)
	if _, err := os.Stat(src); err != nil {
		if err := b.fetchSource(ctx, src); err != nil {
			return err
		}
	}
	dir := filepath.Join(b.layout.serverDir(), "build")
	_, statErr := os.Stat(dir)
	err := b.compile(ctx, src, dir)
	if err != nil && statErr == nil && ctx.Err() == nil {
		b.progress.Say("build llama-server: going on with an earlier build failed; from the start")
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("build llama-server: %w", err)
		}
		err = b.compile(ctx, src, dir)
	}
	if err != nil {
		return err
	}
	if err := b.install(ctx, filepath.Join(dir, "bin", "llama-server")); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(dir), os.RemoveAll(src))
}

func (b builder) fetchSource(ctx context.Context, src string) error {
	pkg := serverSource()
	dir, err := downloadDir(b.layout.downloads())
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	defer os.RemoveAll(dir)
	task := b.progress.Start("fetch llama.cpp", progress.Bytes, pkg.Size)
	defer task.Stop()
	task.Watch(func() int64 { return min(pkg.Size, folderSize(dir)) })
	archive, err := b.pip.download(ctx, pkg, dir)
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	folder := strings.TrimSuffix(filepath.Base(archive), ".tar.gz") + "/llama.cpp"
	if err := unpackFolder(archive, folder, src); err != nil {
		return fmt.Errorf("unpack %s: %w", pkg, err)
	}
	task.Done()
	return nil
}

func haveCompiler() error {
	var missing []string
	for _, tool := range []string{"cmake", "make", "c++"} {
		if tool == "c++" && os.Getenv("CXX") != "" {
			continue
		}
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("build llama-server: %s not found: install cmake, make and a C++ compiler (on Debian and Ubuntu: apt install cmake make g++), or put a llama-server on PATH, or use another model endpoint (OPENAI_BASE_URL) and run `triplemesh setup --no-model-server --no-model`", strings.Join(missing, ", "))
}

var percentDone = regexp.MustCompile(`^\[ *(\d+)%\]`)

func (b builder) compile(ctx context.Context, src, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	extra := filepath.Join(dir, "llama.cmake")
	if err := os.WriteFile(extra, serverCMake, 0o644); err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	log, err := os.Create(filepath.Join(b.layout.serverDir(), "build.log"))
	if err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	defer log.Close()
	task := b.progress.Start("build llama-server", progress.Percent, 100)
	defer task.Stop()
	configure := append([]string{"-S", src, "-B", dir, "-G", "Unix Makefiles", "-DCMAKE_PROJECT_llama.cpp_INCLUDE=" + extra}, b.flags()...)
	jobs := strconv.Itoa(min(16, runtime.NumCPU()))
	for _, args := range [][]string{configure, {"--build", dir, "--target", "llama-server", "-j", jobs}} {
		if err := b.run(ctx, log, task, args); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("build llama-server: %w", context.Cause(ctx))
			}
			return fmt.Errorf("build llama-server: %w; the whole log is %s, its end:\n%s", err, log.Name(), tail(log.Name(), 12))
		}
	}
	task.Done()
	return nil
}

// run is one call of cmake in a process group of its own, so that an end
// asked for reaches make and the compilers, which then remove what they had
// half written.
func (b builder) run(ctx context.Context, log io.Writer, task *progress.Task, args []string) error {
	cmd := exec.CommandContext(ctx, "cmake", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.ExtraFiles = []*os.File{b.lock}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(io.TeeReader(out, log))
	for lines.Scan() {
		if m := percentDone.FindStringSubmatch(lines.Text()); m != nil {
			if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				task.Set(n)
			}
		}
	}
	// A line too long ends the scan, not the build.
	_, _ = io.Copy(log, out)
	return cmd.Wait()
}

// install moves the binary into place once it has run.
func (b builder) install(ctx context.Context, binary string) error {
	if out, err := exec.CommandContext(ctx, binary, "--version").CombinedOutput(); err != nil {
		return fmt.Errorf("build llama-server: the finished server does not run here: %w\n%s", err, lastLines(string(out), 5))
	}
	if err := os.Rename(binary, b.layout.Server()); err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	sum, err := fileSum(b.layout.Server())
	if err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	info, err := os.Stat(b.layout.Server())
	if err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	return writeJSON(b.layout.serverStamp(), buildStamp{
		Source: serverSource().SHA256, Flags: b.flags(),
		Binary: stamp{SHA256: sum, Size: info.Size(), ModTime: info.ModTime().UnixNano()},
	})
}

func tail(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return lastLines(string(b), n)
}
