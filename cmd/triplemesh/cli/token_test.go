package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

func TestTokensAreMadeListedAndRevoked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	token := func(args ...string) testkit.Output {
		t.Helper()
		return triplemesh(t, nil, "", append([]string{"token", args[0], "--file", file}, args[1:]...)...)
	}
	made := token("new", "--tenant", "acme", "--name", "ci", "--scope", "ask", "--scope", "kg:read", "--expires", "90d")
	made.Expect(t, 0, "ci of tenant acme with scopes ask kg:read, valid until ")
	secret := strings.TrimSuffix(made.Stdout, "\n")
	if !strings.HasPrefix(secret, "tm_") || strings.ContainsAny(secret, " \n") {
		t.Errorf("standard output is %q, want the token alone", made.Stdout)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), secret) || !strings.Contains(string(data), auth.Hash(secret)) {
		t.Errorf("the file holds the token, or not what it is known by:\n%s", data)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is for %v: %v", info.Mode(), err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}

	second := token("new", "--tenant", "globex", "--name", "ops", "--scope", "admin", "--json")
	var entry struct {
		Token, Name, Tenant string
		Scopes              []string
		Expires             time.Time
	}
	if err := json.Unmarshal([]byte(second.Stdout), &entry); err != nil || !strings.HasPrefix(entry.Token, "tm_") ||
		entry.Name != "ops" || !entry.Expires.IsZero() {
		t.Errorf("got %+v, %v of %s", entry, err, second.Stdout)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("who may read the file has changed: %v, %v", info.Mode(), err)
	}

	token("new", "--tenant", "acme", "--name", "ci", "--scope", "ask").Expect(t, ExitUsage, "a token named", "revoke")
	list := token("list")
	list.Expect(t, 0, "ci", "acme", "ask kg:read", "until ", "ops", "globex", "admin", "indefinitely")
	if strings.Contains(list.Stdout, "tm_") {
		t.Error("tokens are listed")
	}
	token("list", "--json").Expect(t, 0, `"name": "ci"`)
	token("revoke", "ci", "nobody").Expect(t, ExitUsage, `"nobody"`, "token list")
	token("list").Expect(t, 0, "ci") // none is revoked if one is not there
	token("revoke", "ci").Expect(t, 0, "revoked: ci")
	token("revoke", "ops").Expect(t, 0)
	if data, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	if tokens, err := auth.ParseTokens(data); err != nil || len(tokens.Tokens) != 0 {
		t.Errorf("left are %+v, %v", tokens, err)
	}
}

func TestTokensThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(broken, []byte("tokens: 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tokens.yaml")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"for no tenant", []string{"new", "--file", file, "--name", "ci", "--scope", "ask"}, "--tenant"},
		{"for a tenant that is none", []string{"new", "--file", file, "--tenant", "Acme", "--name", "ci", "--scope",
			"ask"}, "Acme"},
		{"for a scope that is none", []string{"new", "--file", file, "--tenant", "acme", "--name", "ci", "--scope",
			"read"}, "kg:read"},
		{"for a stage", []string{"new", "--file", file, "--tenant", "acme", "--name", "ci", "--scope", "mesh"},
			`"mesh"`},
		{"for nothing", []string{"new", "--file", file, "--tenant", "acme", "--name", "ci"}, "--scope"},
		{"that has ended", []string{"new", "--file", file, "--tenant", "acme", "--name", "ci", "--scope", "ask",
			"--expires", "2020-01-01"}, "expiry is in the past"},
		{"in a file that is broken", []string{"new", "--file", broken, "--tenant", "acme", "--name", "ci", "--scope",
			"ask"}, "broken.yaml"},
		{"to be listed from a file that is not there", []string{"list", "--file", file}, "token new"},
		{"to be revoked from a file that is not there", []string{"revoke", "--file", file, "ci"}, "token new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			triplemesh(t, nil, "", append([]string{"token"}, c.args...)...).Expect(t, ExitUsage, c.want)
			if _, err := os.Stat(file); err == nil {
				t.Error("a file was made all the same")
			}
		})
	}
}

func TestTokensMadeAtOnceAreAllKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			triplemesh(t, nil, "", "token", "new", "--file", file, "--tenant", "acme", "--name", fmt.Sprint("ci-", i),
				"--scope", "ask").Expect(t, 0, "")
		})
	}
	group.Wait()
	listed := triplemesh(t, nil, "", "token", "list", "--file", file)
	if n := strings.Count(listed.Stdout, "\n"); n != 8 {
		t.Errorf("%d of 8 tokens are there:\n%s", n, listed.Stdout)
	}
}
