package console

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// limit is the most that all files may have together, packed.
const limit = 300_000

// files calls see with every file that was built.
func files(t *testing.T, see func(name string, data []byte)) {
	t.Helper()
	err := fs.WalkDir(built, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(built, name)
		if err == nil {
			see(strings.TrimPrefix(name, "dist/"), data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheConsoleIsSmall(t *testing.T) {
	size := 0
	files(t, func(name string, data []byte) {
		size += min(len(data), len(pack(data)))
	})
	if size > limit {
		t.Errorf("all files have %d bytes packed, want at most %d", size, limit)
	}
	t.Logf("%d bytes packed", size)
}

func TestEveryFileHasAKind(t *testing.T) {
	files(t, func(name string, _ []byte) {
		if types[path.Ext(name)] == "" {
			t.Errorf("%s: its ending has no content type", name)
		}
	})
}

// address is a URL with a host. The end of a JavaScript expression, `\//i.test(x)`, is none.
var address = regexp.MustCompile(`(?:^|[^\\])((?:https?:)?//[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+[^\s"'` + "`" + `)]*)`)

// named are addresses that are only names or words: nothing is fetched there.
var named = []string{"http://www.w3.org/"}

func TestTheConsoleAsksNobodyElse(t *testing.T) {
	files(t, func(name string, data []byte) {
		if path.Ext(name) == ".md" {
			return // licences, which are read and not run
		}
		for _, found := range address.FindAllStringSubmatch(string(data), -1) {
			if !hasPrefix(found[1], named) {
				t.Errorf("%s names %s", name, found[1])
			}
		}
	})
}

func hasPrefix(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

func TestThePageLoadsWhatThereIs(t *testing.T) {
	console := Handler()
	page := body(t, get(console, "GET", "/"))
	loads := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(loads) == 0 {
		t.Fatal("the page loads nothing")
	}
	for _, l := range loads {
		target := "/" + strings.TrimPrefix(strings.TrimPrefix(l[1], "."), "/")
		if resp := get(console, "GET", target); resp.StatusCode != 200 {
			t.Errorf("%s: status %d", l[1], resp.StatusCode)
		}
	}
	if inline := regexp.MustCompile(`<script(?:[^>]*[^>])?>[^<]`).FindString(page); inline != "" {
		t.Errorf("the page has a script that the policy forbids: %s", inline)
	}
	if regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=`).MatchString(page) {
		t.Error("the page has styles or handlers that the policy forbids")
	}
}
