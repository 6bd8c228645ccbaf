package answer

import "strings"

// maxAnswers bounds what is read off one text, so that a model caught in a
// loop cannot fill a response.
const maxAnswers = 200

// Braces returns the entities that a text holds in braces, in order, without
// repeats. An opening brace that is never closed ends at the line's end; a
// brace within braces starts over; empty ones are passed over.
func Braces(text string) []string {
	var found []string
	seen := map[string]bool{}
	for len(found) < maxAnswers {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			break
		}
		text = text[open+1:]
		end := strings.IndexAny(text, "{}\n")
		entity := text
		if end >= 0 {
			entity = text[:end]
		}
		if end >= 0 && text[end] == '{' {
			text = text[end:]
			continue
		}
		entity = strings.Join(strings.Fields(strings.ToValidUTF8(entity, "\uFFFD")), " ")
		entity = strings.Trim(entity, `"'`)
		if entity != "" && !seen[entity] {
			seen[entity] = true
			found = append(found, entity)
		}
		if end < 0 {
			break
		}
		text = text[end+1:]
	}
	return found
}
