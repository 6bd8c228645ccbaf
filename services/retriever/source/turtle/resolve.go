package turtle

import "strings"

// reference is an IRI in its parts (RFC 3986, §3): the scheme has its colon,
// the authority its slashes, the query its mark.
type reference struct{ scheme, authority, path, query, fragment string }

func split(iri string) (r reference) {
	if i := strings.IndexByte(iri, '#'); i >= 0 {
		iri, r.fragment = iri[:i], iri[i:]
	}
	if i := strings.IndexByte(iri, '?'); i >= 0 {
		iri, r.query = iri[:i], iri[i:]
	}
	if hasScheme(iri) {
		i := strings.IndexByte(iri, ':')
		r.scheme, iri = iri[:i+1], iri[i+1:]
	}
	if strings.HasPrefix(iri, "//") {
		i := strings.IndexByte(iri[2:], '/') + 2
		if i < 2 {
			i = len(iri)
		}
		r.authority, iri = iri[:i], iri[i:]
	}
	r.path = iri
	return r
}

// resolve makes an IRI absolute by a base (RFC 3986, §5.2). What is not ASCII
// stays as it is, as net/url would not leave it.
func resolve(base, iri string) string {
	b, r := split(base), split(iri)
	switch {
	case r.scheme != "":
		return iri
	case r.authority != "":
		r.path = withoutDots(r.path)
	case r.path == "":
		r.authority, r.path = b.authority, b.path
		if r.query == "" {
			r.query = b.query
		}
	case r.path[0] == '/':
		r.authority, r.path = b.authority, withoutDots(r.path)
	default:
		up := b.path[:strings.LastIndexByte(b.path, '/')+1]
		if b.authority != "" && b.path == "" {
			up = "/"
		}
		r.authority, r.path = b.authority, withoutDots(up+r.path)
	}
	return b.scheme + r.authority + r.path + r.query + r.fragment
}

// withoutDots takes "." and ".." out of a path (RFC 3986, §5.2.4).
func withoutDots(path string) string {
	if !strings.Contains(path, ".") {
		return path
	}
	segments := strings.Split(path, "/")
	var kept []string
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
		case "..":
			if len(kept) > 1 || (len(kept) == 1 && kept[0] != "") {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, s)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/")
}
