package load

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLine is the longest line in bytes; longer ones are bad lines and are
// passed over without being held in memory.
const maxLine = 1 << 20

// lines calls take with every line of r that is not empty, without its end.
// The slice is valid during the call. Lines that are too long or not UTF-8 go
// to bad. Either may end the reading with an error.
func lines(ctx context.Context, file string, r io.Reader, take func(line uint64, text []byte) error, bad func(*LineError) error) (uint64, error) {
	plain, err := unpack(file, r)
	if err != nil {
		return 0, err
	}
	in := bufio.NewReaderSize(plain, 1<<16)
	var number uint64
	var held []byte
	for {
		text, tooLong, err := nextLine(in, held[:0])
		held = text
		if err != nil && !errors.Is(err, io.EOF) {
			return number, damaged(file, number+1, err)
		}
		end := errors.Is(err, io.EOF)
		if end && len(text) == 0 && !tooLong {
			return number, nil
		}
		number++
		if number%1024 == 0 && ctx.Err() != nil {
			return number, ctx.Err()
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		switch {
		case tooLong:
			err = bad(&LineError{file, number, fmt.Errorf("the line is longer than %d bytes", maxLine)})
		case !utf8.Valid(text):
			err = bad(&LineError{file, number, errors.New("the line is not UTF-8")})
		case len(bytes.TrimSpace(text)) > 0:
			err = take(number, text)
		default:
			err = nil
		}
		if err != nil || end {
			return number, err
		}
	}
}

// nextLine reads to the end of a line into held, at most maxLine bytes of it.
func nextLine(in *bufio.Reader, held []byte) (text []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(held)+len(part) > maxLine+2 {
			tooLong = true
		}
		if !tooLong {
			held = append(held, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		held = bytes.TrimSuffix(held, []byte("\n"))
		held = bytes.TrimSuffix(held, []byte("\r"))
		return held, tooLong, err
	}
}

func unpack(file string, r io.Reader) (io.Reader, error) {
	if !strings.HasSuffix(strings.ToLower(file), ".gz") {
		return r, nil
	}
	plain, err := gzip.NewReader(r)
	if err != nil {
		return nil, damaged(file, 1, err)
	}
	return plain, nil
}

// damaged makes a broken file the fault of the file; errors of the way it
// came by stay what they are.
func damaged(file string, line uint64, err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &LineError{file, line, errors.New("the gzip file is cut off")}
	}
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return &LineError{file, line, err}
	}
	return fmt.Errorf("read %s, line %d: %w", file, line, err)
}
