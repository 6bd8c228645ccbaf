// Command measured enters what tests measured (testkit.Measured) in docs/reliability.md, with the
// day. A measurement stands there between <!--NAME--> and <!---->, NAME being that of its test.
//
//	make trust 2>&1 | tee trust.log
//	go run ./tests/measured trust.log
package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const page = "docs/reliability.md"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "measured:", err)
		os.Exit(1)
	}
}

func run(logs []string) error {
	measured := map[string]string{}
	for _, path := range logs {
		if err := readLog(path, measured); err != nil {
			return fmt.Errorf("read the log of tests: %w", err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	entered, names := enter(string(text), measured, time.Now().Format("2 January 2006"))
	fmt.Printf("%d of %d measurements entered in %s: %s\n", len(names), len(measured), page, strings.Join(names, ", "))
	return os.WriteFile(page, []byte(entered), 0o644)
}

var attribute = regexp.MustCompile(`^\s*=== ATTR\s+(\S+) measured (".*")$`)

// readLog reads the measurements in the output of `go test -v`.
func readLog(path string, measured map[string]string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		found := attribute.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		if measured[found[1]], err = strconv.Unquote(found[2]); err != nil {
			return fmt.Errorf("%s: %s: %w", path, lines.Text(), err)
		}
	}
	return lines.Err()
}

var place = regexp.MustCompile(`(?s)<!--([\w/-]+)-->.*?<!---->`)

// enter replaces the measurements of a page, and returns the names of those it has.
func enter(text string, measured map[string]string, day string) (entered string, names []string) {
	entered = place.ReplaceAllStringFunc(text, func(old string) string {
		name := place.FindStringSubmatch(old)[1]
		value, ok := measured[name]
		switch {
		case !ok:
			return old
		case strings.Contains(value, "\n"): // a section
			value = fmt.Sprintf("\nMeasured on %s.\n\n%s\n", day, strings.TrimSpace(value))
		default:
			value = fmt.Sprintf("%s (%s)", value, day)
		}
		names = append(names, name)
		return fmt.Sprintf("<!--%s-->%s<!---->", name, value)
	})
	return entered, names
}
