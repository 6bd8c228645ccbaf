package rdf

import "testing"

func TestResolve(t *testing.T) {
	// The examples of RFC 3986, §5.4.
	for iri, want := range map[string]string{
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g",
		"//g": "http://g",
		"?y":  "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q#s", "g#s": "http://a/b/c/g#s",
		"g?y#s": "http://a/b/c/g?y#s",
		";x":    "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "g;x?y#s": "http://a/b/c/g;x?y#s",
		"":  "http://a/b/c/d;p?q",
		".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g",
		"../..": "http://a/", "../../": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g",
		"../../../../g": "http://a/g",
		"/./g":          "http://a/g", "/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g",
		"g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g",
		"./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
		"g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y", "g?y/./x": "http://a/b/c/g?y/./x",
		"g#s/../x": "http://a/b/c/g#s/../x",
		"é?ü":      "http://a/b/c/é?ü",
	} {
		if got := resolve("http://a/b/c/d;p?q", iri); got != want {
			t.Errorf("%q resolves to %q, want %q", iri, got, want)
		}
	}
	for _, c := range [][3]string{
		{"http://a", "b", "http://a/b"}, {"http://a#f", "#g", "http://a#g"}, {"urn:a:b", "c", "urn:c"},
		{"http://a/b//c/", "../d", "http://a/b//d"},
	} {
		if got := resolve(c[0], c[1]); got != c[2] {
			t.Errorf("%q on %q resolves to %q, want %q", c[1], c[0], got, c[2])
		}
	}
}
