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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/triplemesh/triplemesh/internal/download"
	"github.com/triplemesh/triplemesh/internal/terminal"
)

//go:embed llama.cmake
var serverCMake []byte

// builder makes llama-server from its pinned sources.
type builder struct {
	layout   Layout
	pip      pip
	progress *terminal.Board
	// lock is handed down to the compiler: should setup be killed, the next
	// one waits until the compiler has ended too.
	lock *os.File
	// own builds from source although a prebuilt server may do.
	own bool
	// archive is the prebuilt server that the user named; none if its URL is empty.
	archive Archive
}

// buildStamp says where a llama-server comes from: sources with flags, a wheel, or an archive.
type buildStamp struct {
	Source string   `json:"source_sha256"`
	Flags  []string `json:"flags,omitempty"`
	URL    string   `json:"url,omitempty"`
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

// ready reports whether the server that is there is one that would be provided, and not touched
// since.
func (b builder) ready() bool {
	var s buildStamp
	if !readInto(b.layout.serverStamp(), &s) {
		return false
	}
	// A cache that was copied has other times of modification, and the same checksums.
	if ok, err := verified(b.layout.Server(), s.Binary.SHA256, s.Binary.Size, false); err != nil || !ok {
		return false
	}
	wheels := serverWheels(platform())
	switch {
	case b.archive.URL != "":
		return s.Source == b.archive.SHA256
	case len(s.Flags) > 0:
		return s.Source == serverSource().SHA256 && slices.Equal(s.Flags, b.flags())
	}
	pinned := func(w serverWheel) bool { return w.Package.SHA256 == s.Source }
	return !b.own && (s.URL != "" || slices.ContainsFunc(wheels, pinned))
}

// build fetches the sources unless they are unpacked already, and compiles. A
// interrupted build resumes; one that fails is tried
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
		b.progress.Println("build llama-server: going on with an earlier build failed; from the start")
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
	task := b.progress.Start("fetch llama.cpp", terminal.Bytes, pkg.Size)
	defer task.Stop()
	task.Watch(func() int64 { return min(pkg.Size, folderSize(dir)) })
	archive, err := b.pip.download(ctx, pkg, dir)
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	folder := strings.TrimSuffix(filepath.Base(archive), ".tar.gz") + "/llama.cpp"
	err = errors.Join(download.Unpack(archive, src+".partial", maxUnpacked),
		os.Rename(filepath.Join(src+".partial", folder), src), os.RemoveAll(src+".partial"))
	if err != nil {
		return fmt.Errorf("unpack %s: %w", pkg, err)
	}
	task.Finish()
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
	return fmt.Errorf("build llama-server: %s not found: install cmake, make and a C++ compiler (on Debian and "+
		"Ubuntu: apt install cmake make g++), or put a llama-server on PATH, or use another model endpoint "+
		"(OPENAI_BASE_URL) and run `triplemesh setup --no-model-server --no-model`", strings.Join(missing, ", "))
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
	task := b.progress.Start("build llama-server", terminal.Percent, 100)
	defer task.Stop()
	configure := append([]string{"-S", src, "-B", dir, "-G", "Unix Makefiles", "-DCMAKE_PROJECT_llama.cpp_INCLUDE=" +
		extra}, b.flags()...)
	jobs := strconv.Itoa(min(16, runtime.NumCPU()))
	for _, args := range [][]string{configure, {"--build", dir, "--target", "llama-server", "-j", jobs}} {
		if err := b.run(ctx, log, task, args); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("build llama-server: %w", context.Cause(ctx))
			}
			return fmt.Errorf("build llama-server: %w; the whole log is %s, its end:\n%s", err, log.Name(),
				tail(log.Name(), 12))
		}
	}
	task.Finish()
	return nil
}

// run returns one call of cmake in a process group of its own, so that an end asked for reaches
// make and the compilers, which then remove what they had half written.
func (b builder) run(ctx context.Context, log io.Writer, task *terminal.Task, args []string) error {
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
				task.SetDone(n)
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
		return fmt.Errorf("build llama-server: the finished server does not run here: %w\n%s", err,
			lastLines(string(out), 5))
	}
	if err := os.Rename(binary, b.layout.Server()); err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	if err := os.RemoveAll(b.layout.prebuilt()); err != nil {
		return fmt.Errorf("build llama-server: %w", err)
	}
	return b.writeStamp(buildStamp{Source: serverSource().SHA256, Flags: b.flags()})
}

// writeStamp completes the stamp with what the server's file is now.
func (b builder) writeStamp(s buildStamp) error {
	sum, err := download.Sum(b.layout.Server())
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	info, err := os.Stat(b.layout.Server())
	if err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	s.Binary = stamp{SHA256: sum, Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	return writeJSON(b.layout.serverStamp(), s)
}

func tail(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return lastLines(string(b), n)
}

// cpuFlags returns the cmake options that fit the build to this processor.
//
// On x86 each extension is named, on or off, by what /proc/cpuinfo lists.
// GGML_NATIVE would let the compiler decide, and its AMX kernels crash on
// virtual machines that list AMX without letting programs use it.
func cpuFlags(goarch string) []string {
	if goarch != "amd64" {
		return []string{"-DGGML_NATIVE=ON"}
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info = nil
	}
	return x86Flags(string(info))
}

// x86Flags reads the extensions off the text of /proc/cpuinfo. Where it lists
// none, the build runs on any x86-64 processor, slowly.
func x86Flags(cpuinfo string) []string {
	has := cpuFeatures(cpuinfo)
	options := []struct {
		name  string
		needs []string
	}{
		{"GGML_SSE42", []string{"sse4_2"}},
		{"GGML_AVX", []string{"avx"}},
		{"GGML_AVX2", []string{"avx2"}},
		{"GGML_BMI2", []string{"bmi2"}},
		{"GGML_FMA", []string{"fma"}},
		{"GGML_F16C", []string{"f16c"}},
		{"GGML_AVX512", []string{"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"}},
		{"GGML_AVX512_VBMI", []string{"avx512f", "avx512vbmi"}},
		{"GGML_AVX512_VNNI", []string{"avx512f", "avx512_vnni"}},
	}
	flags := []string{"-DGGML_NATIVE=OFF"}
	for _, o := range options {
		value := "ON"
		for _, need := range o.needs {
			if !slices.Contains(has, need) {
				value = "OFF"
			}
		}
		flags = append(flags, "-D"+o.name+"="+value)
	}
	return flags
}

// cpuFeatures reads the processor's features off the text of /proc/cpuinfo.
func cpuFeatures(cpuinfo string) []string {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			return strings.Fields(value)
		}
	}
	return nil
}
