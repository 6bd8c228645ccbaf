package setup

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	checkout := t.TempDir()
	for _, f := range []string{"go.work", "cmd/triplemesh/go.mod"} {
		path := filepath.Join(checkout, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := t.TempDir()
	tests := []struct {
		name   string
		over   HomeOverrides
		env    map[string]string
		starts []string
		want   Home
	}{
		{
			name:   "in a checkout everything is in its .cache",
			env:    map[string]string{"HOME": "/home/ada"},
			starts: []string{elsewhere, filepath.Join(checkout, "cmd")},
			want:   Home{Cache: filepath.Join(checkout, ".cache"), Data: filepath.Join(checkout, ".cache", "data")},
		},
		{
			name:   "an installed binary uses the directories below HOME",
			env:    map[string]string{"HOME": "/home/ada"},
			starts: []string{elsewhere},
			want:   Home{Cache: "/home/ada/.cache/triplemesh", Data: "/home/ada/.local/share/triplemesh"},
		},
		{
			name:   "the XDG variables go before HOME",
			env:    map[string]string{"HOME": "/home/ada", "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"},
			starts: []string{elsewhere},
			want:   Home{Cache: "/c/triplemesh", Data: "/d/triplemesh"},
		},
		{
			name:   "a relative XDG directory is not one, as the XDG rules say",
			env:    map[string]string{"HOME": "/home/ada", "XDG_CACHE_HOME": "c"},
			starts: []string{elsewhere},
			want:   Home{Cache: "/home/ada/.cache/triplemesh", Data: "/home/ada/.local/share/triplemesh"},
		},
		{
			name:   "the environment goes before the checkout",
			env:    map[string]string{"TRIPLEMESH_CACHE": "/cache", "TRIPLEMESH_HOME": "/data"},
			starts: []string{checkout},
			want:   Home{Cache: "/cache", Data: "/data"},
		},
		{
			name:   "what the user names goes before everything",
			over:   HomeOverrides{Cache: "/mine"},
			env:    map[string]string{"TRIPLEMESH_CACHE": "/cache", "TRIPLEMESH_HOME": "/data"},
			starts: []string{checkout},
			want:   Home{Cache: "/mine", Data: "/data"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := findHome(tt.over, func(k string) string { return tt.env[k] }, tt.starts...)
			if err != nil || got != tt.want {
				t.Fatalf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestFindWithoutHomeSaysWhatToSet(t *testing.T) {
	if _, err := findHome(HomeOverrides{}, func(string) string { return "" }, t.TempDir()); err == nil {
		t.Fatal("want an error that names the variables to set")
	}
}
