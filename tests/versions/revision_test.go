//go:build versions

package versions

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// revision is a version of the mesh.
type revision struct {
	name string
	// bin has its binaries: triplemesh, and one for each stage.
	bin string
	// source is its checkout.
	source string
}

// String names it in test names.
func (r revision) String() string { return r.name }

func root(tb testing.TB) string { return filepath.Dir(testkit.CheckoutFile(tb, "go.work")) }

// previous returns the versions to combine with the checkout: FROM, else the newest release, else
// those of previous.txt.
func previous(tb testing.TB) []revision {
	tb.Helper()
	names := strings.Fields(os.Getenv("FROM"))
	if len(names) == 0 {
		names = strings.Fields(released(tb))
	}
	if len(names) == 0 {
		names = listed(tb)
	}
	var all []revision
	for _, name := range names {
		all = append(all, build(tb, name))
	}
	return all
}

// released returns the newest release before the checkout, empty if there is none.
func released(tb testing.TB) string {
	tb.Helper()
	tags, err := git(tb, "tag", "--list", "v[0-9]*", "--merged", "HEAD~1", "--sort=-version:refname")
	if err != nil {
		tb.Fatalf("look for releases: %v: the tests of versions need a clone with history", err)
	}
	newest, _, _ := strings.Cut(tags, "\n")
	return newest
}

func listed(tb testing.TB) []string {
	tb.Helper()
	text, err := os.ReadFile("previous.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if commit, _, _ := strings.Cut(strings.TrimSpace(line), " "); commit != "" && commit != "#" {
			names = append(names, commit)
		}
	}
	return names
}

// build builds a version from its own commit, go.work and go.mod files, and caches it for later
// test runs.
func build(tb testing.TB, name string) revision {
	tb.Helper()
	commit, err := git(tb, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	if err != nil {
		tb.Fatalf("find the version %s: %v: this clone does not hold it; fetch its history (git fetch --unshallow "+
			"--tags), or name a version that is there by FROM=REVISION", name, err)
	}
	at := filepath.Join(root(tb), ".cache", "versions", commit)
	r := revision{name: commit[:min(len(commit), 7)], bin: filepath.Join(at, "bin"),
		source: filepath.Join(at, "source")}
	if strings.HasPrefix(name, "v") {
		r.name = name
	}
	if _, err := os.Stat(r.bin); err == nil {
		return r
	}
	if err := os.RemoveAll(at); err != nil {
		tb.Fatal(err)
	}
	if err := os.MkdirAll(r.source, 0o755); err != nil {
		tb.Fatal(err)
	}
	archive := exec.Command("git", "archive", "--format=tar", commit)
	archive.Dir = root(tb)
	unpack := exec.Command("tar", "-x", "-C", r.source)
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		tb.Fatal(err)
	}
	var stderr bytes.Buffer
	archive.Stderr, unpack.Stderr = &stderr, &stderr
	if err := unpack.Start(); err != nil {
		tb.Fatal(err)
	}
	if err := archive.Run(); err != nil {
		tb.Fatalf("take the version %s out of git: %v\n%s", name, err, &stderr)
	}
	if err := unpack.Wait(); err != nil {
		tb.Fatalf("unpack the version %s: %v\n%s", name, err, &stderr)
	}
	compile(tb, r.source, r.bin+".partial")
	if err := os.Rename(r.bin+".partial", r.bin); err != nil {
		tb.Fatal(err)
	}
	return r
}

// checkout builds the version that the tests belong to.
func checkout(tb testing.TB) revision {
	tb.Helper()
	r := revision{name: "checkout", bin: filepath.Join(built, "checkout"), source: root(tb)}
	if _, err := os.Stat(r.bin); err != nil {
		compile(tb, r.source, r.bin)
	}
	return r
}

func compile(tb testing.TB, source, to string) {
	tb.Helper()
	packages := []string{"./cmd/triplemesh"}
	for _, name := range mesh.StageNames() {
		packages = append(packages, "./services/"+name+"/cmd/"+name)
	}
	cmd := exec.Command("go", append([]string{"build", "-ldflags", "-s -w", "-o", to + string(filepath.Separator)},
		packages...)...)
	cmd.Dir, cmd.Env = source, append(os.Environ(), "GOWORK="+filepath.Join(source, "go.work"))
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v\n%s", source, err, out)
	}
}

func git(tb testing.TB, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root(tb)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// built is the temporary directory of this test run.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "triplemesh-versions-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the tests of versions:", err)
		os.Exit(1)
	}
	built = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "remove what the tests of versions made:", err)
	}
	os.Exit(code)
}
