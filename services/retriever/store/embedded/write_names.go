package embedded

import (
	"context"
	"errors"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// writeNames writes the entities, their aliases and the index of both.
func (b *builder) writeNames(ctx context.Context) (err error) {
	keys := extsort.NewStrings(b.sortOptions("names"))
	defer func() { err = errors.Join(err, keys.Close()) }()
	if err := b.writeEntities(ctx, keys); err != nil {
		return err
	}
	if err := b.writeAliases(ctx, keys); err != nil {
		return err
	}
	return b.writeIndex(ctx, keys)
}

func (b *builder) writeEntities(ctx context.Context, keys *extsort.Strings) (err error) {
	names, err := b.texts(entitiesFile)
	if err != nil {
		return err
	}
	kinds, err := b.column(kindsFile, kindBits)
	if err != nil {
		return err
	}
	keyTexts := optionalTexts{folder: b.folder, name: keysFile}
	byKey := extsort.NewStrings(b.sortOptions("keys"))
	defer func() { err = errors.Join(err, byKey.Close()) }()
	n, last := 0, ""
	err = b.content.Entities(ctx, func(e store.NamedEntity) error {
		switch {
		case n == b.own.Entities:
			return checkCount("entities", n+1, n)
		case n > 0 && e.Name <= last:
			return store.Invalidf("entities are not in order at %q", e.Name)
		case e.Kind > store.Date:
			return store.Invalidf("entity %q is of kind %d", e.Name, e.Kind)
		}
		id := b.entities - b.own.Entities + n
		if e.Key == e.Name {
			e.Key = ""
		}
		if e.Key != "" {
			if err := byKey.Add([]byte(e.Key), uint64(n)); err != nil {
				return err
			}
		}
		n, last = n+1, e.Name
		return errors.Join(names.add(e.Name), kinds.Add(uint64(e.Kind)), keyTexts.add(e.Key),
			keys.Add([]byte(store.Fold(e.Name)), uint64(id)))
	})
	if err != nil {
		return err
	}
	if err := checkCount("entities", n, b.own.Entities); err != nil {
		return err
	}
	b.own.Keys = keyTexts.filled
	return errors.Join(names.close(), kinds.close(), keyTexts.close(), b.writeByKey(ctx, byKey))
}

// writeByKey writes the entities that have a key in the order of their keys.
func (b *builder) writeByKey(ctx context.Context, byKey *extsort.Strings) error {
	if b.own.Keys == 0 {
		return nil
	}
	column, err := b.column(byKeyFile, bitWidth(uint64(max(0, b.own.Entities-1))))
	if err != nil {
		return err
	}
	last, some := "", false
	if err := byKey.Each(ctx, func(key []byte, entity uint64) error {
		if some && string(key) == last {
			return store.Invalidf("two entities have the key %q", key)
		}
		last, some = string(key), true
		return column.Add(entity)
	}); err != nil {
		return err
	}
	return column.close()
}

func (b *builder) writeAliases(ctx context.Context, keys *extsort.Strings) error {
	names, err := b.texts(aliasesFile)
	if err != nil {
		return err
	}
	holders, err := b.column(aliasHolderFile, bitWidth(uint64(max(0, b.entities-1))))
	if err != nil {
		return err
	}
	if b.content.Aliases != nil {
		if err := b.content.Aliases(ctx, func(a store.Alias) error {
			if int(a.Entity) >= b.entities {
				return store.Invalidf("alias %q names entity %d of %d", a.Name, a.Entity, b.entities)
			}
			b.own.Aliases++
			return errors.Join(names.add(a.Name), holders.Add(uint64(a.Entity)), keys.Add([]byte(store.Fold(a.Name)),
				uint64(a.Entity)))
		}); err != nil {
			return err
		}
	}
	return errors.Join(names.close(), holders.close())
}

func (b *builder) writeIndex(ctx context.Context, keys *extsort.Strings) (err error) {
	names, err := b.create(namesFile)
	if err != nil {
		return err
	}
	holders, err := b.create(holdersFile)
	if err != nil {
		return err
	}
	index, err := nameindex.NewWriter(names, holders, b.sortOptions("words"))
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
