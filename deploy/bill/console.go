package bill

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Where the console is, in the checkout.
var (
	consoleDist = filepath.Join("services", "orchestrator", "console", "dist")
	consoleLock = filepath.Join("console", "package-lock.json")
)

// bundled is the heading of a package in the licences that the console's build
// writes down: of each whose code it took in.
var bundled = regexp.MustCompile(`(?m)^## (\S+) - (\S+) \(([^)]+)\)$`)

// font is the name of a font file that the build took in, without its hash.
var font = regexp.MustCompile(`^([a-z-]+)-latin`)

// Console are the npm packages whose code and fonts are in the console, which
// is compiled into the orchestrator. root is the checkout.
func Console(root string) ([]Part, error) {
	text, err := os.ReadFile(filepath.Join(root, consoleDist, "licenses.md"))
	if err != nil {
		return nil, fmt.Errorf("packages of the console: %w", err)
	}
	var parts []Part
	for _, m := range bundled.FindAllStringSubmatch(string(text), -1) {
		parts = append(parts, npm(m[1], m[2], m[3]))
	}
	fonts, err := consoleFonts(root)
	if err != nil {
		return nil, fmt.Errorf("fonts of the console: %w", err)
	}
	return append(parts, fonts...), nil
}

func npm(name, version, licence string) Part {
	return Part{
		Name: name, Version: version, Licence: licence,
		PURL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version,
	}
}

// consoleFonts are the packages of the font files, of the lock file's versions.
func consoleFonts(root string) ([]Part, error) {
	data, err := os.ReadFile(filepath.Join(root, consoleLock))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version, License string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", consoleLock, err)
	}
	files, err := filepath.Glob(filepath.Join(root, consoleDist, "assets", "*.woff2"))
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, file := range files {
		m := font.FindStringSubmatch(filepath.Base(file))
		if m == nil {
			return nil, fmt.Errorf("%s is of no package known", file)
		}
		name := "@fontsource-variable/" + m[1]
		of, ok := lock.Packages["node_modules/"+name]
		if !ok {
			return nil, fmt.Errorf("%s: %s does not name %s", file, consoleLock, name)
		}
		if n := len(parts); n == 0 || parts[n-1].Name != name {
			parts = append(parts, npm(name, of.Version, of.License))
		}
	}
	return parts, nil
}
