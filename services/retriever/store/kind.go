package store

// KindOf tells by its name alone what an entity is, where the source did not
// say: Freebase machine ids such as "m.04j60kc" and "g.11b6jbqm_w" are
// mediators, all else is an entity.
func KindOf(name string) Kind {
	if len(name) < 5 || len(name) > 16 || name[1] != '.' || (name[0] != 'm' && name[0] != 'g') {
		return Entity
	}
	if name[2] != '0' && name[2] != '1' {
		return Entity
	}
	for _, c := range []byte(name[3:]) {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return Entity
		}
	}
	return Mediator
}
