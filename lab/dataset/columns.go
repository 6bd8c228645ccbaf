package dataset

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
)

// ReadColumns calls read for each line of a tab-separated file, which may be packed by gzip, with the
// number of the line from 1 on. It stops at the first error.
func ReadColumns(path string, read func(line int, columns []string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := read(n, strings.Split(lines.Text(), "\t")); err != nil {
			return err
		}
	}
	return lines.Err()
}
