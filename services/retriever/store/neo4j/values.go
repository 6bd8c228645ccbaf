package neo4j

// number reads a whole number of a row; 0 where it is none.
func number(v any) int64 {
	n, _ := v.(int64)
	return n
}

// text reads a text of a row; empty where it is none.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// list reads a list of a row.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}
