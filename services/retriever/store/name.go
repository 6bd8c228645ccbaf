package store

import (
	"fmt"
	"regexp"
)

// names are those of the contract. They lead to no other directory or
// collection, and nothing of a backend's own can have one: such names begin with
// another character.
var names = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// CheckName is ErrInvalid where no knowledge graph can have the name.
func CheckName(kg string) error {
	if !names.MatchString(kg) {
		return fmt.Errorf("a name is a lower-case letter and up to 62 of a-z, 0-9, _ and -: %w", ErrInvalid)
	}
	return nil
}
