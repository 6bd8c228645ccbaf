package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/packed"
)

// writeNames writes the entities, their aliases and the index of both.
func (b *build) writeNames(ctx context.Context) (err error) {
	keys := extsort.NewStrings(b.sorting("names"))
	defer func() { err = errors.Join(err, keys.Close()) }()
	if err := b.writeEntities(ctx, keys); err != nil {
		return err
	}
	if err := b.writeAliases(ctx, keys); err != nil {
		return err
	}
	return b.writeIndex(ctx, keys)
}

func (b *build) writeEntities(ctx context.Context, keys *extsort.Strings) error {
	names, err := b.texts(entitiesFile)
	if err != nil {
		return err
	}
	kinds, err := b.column(kindsFile, kindBits)
	if err != nil {
		return err
	}
	n, last := 0, ""
	err = b.content.Entities(ctx, func(e store.Named) error {
		switch {
		case n == b.own.Entities:
			return announced("entities", n+1, n)
		case n > 0 && e.Name <= last:
			return fmt.Errorf("entities are not in order at %q: %w", e.Name, store.ErrInvalid)
		case e.Kind > store.Date:
			return fmt.Errorf("entity %q is of kind %d: %w", e.Name, e.Kind, store.ErrInvalid)
		}
		id := b.entities - b.own.Entities + n
		n, last = n+1, e.Name
		return errors.Join(names.add(e.Name), kinds.Add(uint64(e.Kind)), keys.Add([]byte(store.Fold(e.Name)), uint64(id)))
	})
	if err != nil {
		return err
	}
	if err := announced("entities", n, b.own.Entities); err != nil {
		return err
	}
	return errors.Join(names.close(), kinds.close())
}

func (b *build) writeAliases(ctx context.Context, keys *extsort.Strings) error {
	names, err := b.texts(aliasesFile)
	if err != nil {
		return err
	}
	holders, err := b.column(aliasHolderFile, packed.Width(uint64(max(0, b.entities-1))))
	if err != nil {
		return err
	}
	if b.content.Aliases != nil {
		if err := b.content.Aliases(ctx, func(a store.Alias) error {
			if int(a.Entity) >= b.entities {
				return fmt.Errorf("alias %q names entity %d of %d: %w", a.Name, a.Entity, b.entities, store.ErrInvalid)
			}
			b.own.Aliases++
			return errors.Join(names.add(a.Name), holders.Add(uint64(a.Entity)), keys.Add([]byte(store.Fold(a.Name)), uint64(a.Entity)))
		}); err != nil {
			return err
		}
	}
	return errors.Join(names.close(), holders.close())
}

func (b *build) writeIndex(ctx context.Context, keys *extsort.Strings) (err error) {
	names, err := b.create(namesFile)
	if err != nil {
		return err
	}
	holders, err := b.create(holdersFile)
	if err != nil {
		return err
	}
	index, err := nameindex.NewWriter(names, holders, b.sorting("words"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	var key []byte
	var entities []uint32
	flush := func() error {
		if len(entities) == 0 {
			return nil
		}
		err := index.Add(string(key), slices.Compact(entities))
		entities = entities[:0]
		return err
	}
	err = keys.Each(ctx, func(next []byte, entity uint64) error {
		if string(next) != string(key) {
			if err := flush(); err != nil {
				return err
			}
			key = append(key[:0], next...)
		}
		entities = append(entities, uint32(entity))
		return nil
	})
	if err != nil {
		return err
	}
	if err := errors.Join(flush(), index.Finish(ctx)); err != nil {
		return err
	}
	return errors.Join(names.close(), holders.close())
}
