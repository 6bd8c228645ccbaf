package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// plainText returns the text of a file without its byte order mark.
func plainText(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || isUTF16(data) {
		return nil, errors.New("is UTF-16; save the file as UTF-8")
	}
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return nil, errors.New("is compressed; unpack it first")
	}
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(text) {
		bad := 0
		for bad < len(text) {
			r, size := utf8.DecodeRune(text[bad:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			bad += size
		}
		return nil, fmt.Errorf("%s: is not UTF-8; save the file as UTF-8", place(text, bad))
	}
	return text, nil
}

// isUTF16 reports whether a file begins with a character of ASCII in UTF-16
// without a byte order mark.
func isUTF16(data []byte) bool {
	return len(data) >= 2 && (data[0] == 0) != (data[1] == 0)
}

// place says where an offset of a text is, in lines and in bytes of the line,
// both from 1 on.
func place(text []byte, offset int) string {
	before := text[:min(max(offset, 0), len(text))]
	return fmt.Sprintf("line %d, byte %d", bytes.Count(before, []byte("\n"))+1,
		len(before)-bytes.LastIndexByte(before, '\n'))
}

// readLines makes an item of each line that is not blank. convert gets it
// without its end, and its number, from 1 on.
func readLines(text []byte, convert func(line []byte, number int) (Question, error)) []item {
	var items []item
	number := 0
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		number++
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		q, err := convert(line, number)
		items = append(items, item{place: fmt.Sprintf("line %d", number), question: q, err: err})
	}
	return items
}
