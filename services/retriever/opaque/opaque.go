// Package opaque knows identifiers that a person cannot read, such as the
// mediator nodes of Freebase. They join facts but are no answer and no
// evidence themselves.
package opaque

// Name tells Freebase machine ids such as "m.04j60kc" and "g.11b6jbqm_w" from
// readable names.
func Name(name string) bool {
	if len(name) < 5 || len(name) > 16 || name[1] != '.' || (name[0] != 'm' && name[0] != 'g') {
		return false
	}
	if name[2] != '0' && name[2] != '1' {
		return false
	}
	for _, c := range []byte(name[3:]) {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
