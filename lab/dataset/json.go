package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// readElements makes an item of each element of a JSON list: the whole text,
// or what an object that is the whole text has under a key. convert gets each
// with its number, from 1 on. Only a text that is no such list is an error.
func readElements[T any](text []byte, key string, convert func(element T, number int) (Question,
	error)) ([]item, error) {
	var items []item
	walk := &walker{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	err := walk.elements(key, func(raw json.RawMessage, where string) {
		number := len(items) + 1
		it := item{place: fmt.Sprintf("question %d (%s)", number, where)}
		var element T
		if err := json.Unmarshal(raw, &element); err != nil {
			it.err = describeJSON(err, "an object")
		} else {
			it.question, it.err = convert(element, number)
		}
		items = append(items, it)
	})
	return items, err
}

// walker goes through a JSON text and knows where it is.
type walker struct {
	text    []byte
	decoder *json.Decoder
	counted int // offset up to which lines were counted
	lines   int // ends of lines before it
	begin   int // offset of the beginning of its line
}

func (w *walker) elements(key string, visit func(raw json.RawMessage, where string)) error {
	first, err := w.decoder.Token()
	if err != nil {
		return w.broken(err)
	}
	switch {
	case first == json.Delim('['):
		if err := w.list(visit); err != nil {
			return err
		}
	case first != json.Delim('{') || key == "":
		return fmt.Errorf("%s: is no JSON list of questions", place(w.text, 0))
	default:
		if err := w.object(key, visit); err != nil {
			return err
		}
	}
	if _, err := w.decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: something stands after the end of the JSON text; remove it", w.position())
	}
	return nil
}

// object goes through what is left of an object whose beginning is read.
func (w *walker) object(key string, visit func(raw json.RawMessage, where string)) error {
	found := false
	for w.decoder.More() {
		name, err := w.decoder.Token()
		if err != nil {
			return w.broken(err)
		}
		if name != key {
			var value json.RawMessage
			if err := w.decoder.Decode(&value); err != nil {
				return w.broken(err)
			}
			continue
		}
		where := w.position()
		switch begin, err := w.decoder.Token(); {
		case err != nil:
			return w.broken(err)
		case begin != json.Delim('['):
			return fmt.Errorf("%s: field %q: is no list of questions", where, key)
		}
		if err := w.list(visit); err != nil {
			return err
		}
		found = true
	}
	if _, err := w.decoder.Token(); err != nil {
		return w.broken(err)
	}
	if !found {
		return fmt.Errorf("field %q: missing", key)
	}
	return nil
}

// list goes through what is left of a list whose beginning is read.
func (w *walker) list(visit func(raw json.RawMessage, where string)) error {
	for w.decoder.More() {
		where := w.position()
		var raw json.RawMessage
		if err := w.decoder.Decode(&raw); err != nil {
			return w.broken(err)
		}
		visit(raw, where)
	}
	if _, err := w.decoder.Token(); err != nil {
		return w.broken(err)
	}
	return nil
}

// position returns the place of the next value. It counts on from the place before.
func (w *walker) position() string {
	offset := int(w.decoder.InputOffset())
	offset += len(w.text[offset:]) - len(bytes.TrimLeft(w.text[offset:], " \t\r\n,:"))
	since := w.text[w.counted:offset]
	w.lines += bytes.Count(since, []byte("\n"))
	if end := bytes.LastIndexByte(since, '\n'); end >= 0 {
		w.begin = w.counted + end + 1
	}
	w.counted = offset
	return fmt.Sprintf("line %d, byte %d", w.lines+1, offset-w.begin+1)
}

// broken says where and how a text stops being JSON.
func (w *walker) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: the JSON text is cut; get the file again", place(w.text, len(w.text)))
	}
	offset := int(w.decoder.InputOffset())
	offset += len(w.text[offset:]) - len(bytes.TrimLeft(w.text[offset:], " \t\r\n"))
	// The offset of the error leaves out what was read as tokens, so the value
	// that it is in is read once more, from its beginning.
	var value json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.NewDecoder(bytes.NewReader(w.text[offset:])).Decode(&value), &syntax) {
		offset += int(syntax.Offset) - 1
	}
	return fmt.Errorf("%s: is no JSON: %w", place(w.text, offset), err)
}

// describeJSON says what is wrong with a value in the words of the file, not
// of Go's types. want is what the value must be.
func describeJSON(err error, want string) error {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return fmt.Errorf("is a JSON %s, not %s", wrongType.Value, want)
	case errors.As(err, &wrongType):
		field := strings.TrimPrefix(wrongType.Field, "Question.") // which is embedded
		return fmt.Errorf("field %q: is or holds a JSON %s, must be %s", field, wrongType.Value,
			inWords(wrongType.Type))
	case errors.As(err, &syntax):
		return fmt.Errorf("is no JSON, at byte %d: %w", syntax.Offset, err)
	}
	return err
}

func inWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "a list of texts"
		}
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	}
	return "an object"
}

// word is a JSON text, number or truth value; null is "".
type word string

// UnmarshalJSON takes any value that is no list and no object.
func (w *word) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '[', '{':
		return fmt.Errorf("holds %s where a text is expected", raw[:min(len(raw), 20)])
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(raw, (*string)(w))
	}
	*w = word(raw)
	return nil
}

// words are a word, a list of them, or the values of an object.
type words []string

// UnmarshalJSON takes them in the order of the file, without null.
func (w *words) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	object := raw[0] == '{'
	if object || raw[0] == '[' {
		if _, err := decoder.Token(); err != nil {
			return err
		}
	}
	for decoder.More() {
		if object {
			if _, err := decoder.Token(); err != nil {
				return err
			}
		}
		var value word
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		if value != "" {
			*w = append(*w, string(value))
		}
	}
	return nil
}
