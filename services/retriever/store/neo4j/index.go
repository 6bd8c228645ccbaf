package neo4j

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// index says which nodes, types, properties and labels of a Neo4j the numbers
// of a snapshot stand for. It lies in the snapshot's directory:
//
//	neo4j.ids    for each entity the id of its node, 8 bytes, -1 for none
//	neo4j.json   the rest, and the checksum of neo4j.ids
type index struct {
	indexData
	ids *os.File
	// created is the snapshot's time.
	created time.Time
	// byRelation and byProperty are Types and Properties the other way round.
	byRelation map[store.RelationID][]string
	byProperty map[store.RelationID]string
	byLabel    map[store.EntityID]string
}

const (
	idsFile   = "neo4j.ids"
	indexFile = "neo4j.json"
	version   = 1
)

// indexData is neo4j.json.
type indexData struct {
	Version  int    `json:"version"`
	Entities int    `json:"entities"`
	SHA256   string `json:"sha256"`
	// Types and Properties are relations by what Neo4j calls them, Labels
	// entities, and LabelRelation what leads to these.
	Types         map[string]store.RelationID `json:"types"`
	Properties    map[string]store.RelationID `json:"properties,omitempty"`
	Labels        map[string]store.EntityID   `json:"labels,omitempty"`
	LabelRelation *store.RelationID           `json:"label_relation,omitempty"`
	// Vectors is the label of the nodes that hold the triples' vectors, empty if they are in files.
	Vectors string `json:"vectors,omitempty"`
}

// noNode is the id of an entity that no node is: a literal or a label.
const noNode = -1

// writeIndex writes both files, the one that vouches for the other last.
func writeIndex(dir string, ids []int64, x indexData) error {
	sum := sha256.New()
	if err := writeFile(filepath.Join(dir, idsFile), func(w io.Writer) error {
		return binary.Write(io.MultiWriter(w, sum), binary.LittleEndian, ids)
	}); err != nil {
		return err
	}
	x.Version, x.Entities, x.SHA256 = version, len(ids), hex.EncodeToString(sum.Sum(nil))
	return writeFile(filepath.Join(dir, indexFile), func(w io.Writer) error {
		out := json.NewEncoder(w)
		out.SetIndent("", " ")
		return out.Encode(x)
	})
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	if err := write(buffered); err != nil {
		return err
	}
	return errors.Join(buffered.Flush(), f.Sync())
}

// openIndex opens the files of a snapshot. They are closed when no process uses the index any more.
func openIndex(dir string) (*index, error) {
	text, err := os.ReadFile(filepath.Join(dir, indexFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: the snapshot was not read from Neo4j; load it again without files: %w",
			indexFile, store.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	x := &index{byRelation: map[store.RelationID][]string{}, byProperty: map[store.RelationID]string{},
		byLabel: map[store.EntityID]string{}}
	if err := json.Unmarshal(text, &x.indexData); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", indexFile, err, store.ErrCorrupt)
	}
	if x.Version != version {
		return nil, fmt.Errorf("%s has version %d, known is %d: %w", indexFile, x.Version, version, store.ErrFormat)
	}
	if x.ids, err = os.Open(filepath.Join(dir, idsFile)); err != nil {
		return nil, fmt.Errorf("%w: %w", err, store.ErrCorrupt)
	}
	if info, err := x.ids.Stat(); err != nil || info.Size() != 8*int64(x.Entities) {
		return nil, fmt.Errorf("%s has not the size of %d entities: %w", idsFile, x.Entities, store.ErrCorrupt)
	}
	for t, r := range x.Types {
		x.byRelation[r] = append(x.byRelation[r], t)
	}
	for p, r := range x.Properties {
		x.byProperty[r] = p
	}
	for l, e := range x.Labels {
		x.byLabel[e] = l
	}
	return x, nil
}

// node is the id of an entity's node, noNode if it has none.
func (x *index) node(e store.EntityID) (int64, error) {
	if int64(e) >= int64(x.Entities) {
		return noNode, nil
	}
	var b [8]byte
	if _, err := x.ids.ReadAt(b[:], 8*int64(e)); err != nil {
		return noNode, fmt.Errorf("read %s: %w: %w", idsFile, err, store.ErrCorrupt)
	}
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}

// literal reports whether a relation leads to properties' values or labels.
func (x *index) literal(r store.RelationID) bool {
	_, ok := x.byProperty[r]
	return ok || x.LabelRelation != nil && *x.LabelRelation == r
}

// verify compares the checksum of the ids and returns the bytes read.
func (x *index) verify(ctx context.Context) (int64, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(x.ids, 0, 8*int64(x.Entities)))
	if err != nil {
		return n, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != x.SHA256 {
		return n, fmt.Errorf("checksum of %s: got %s, want %s; load the graph again: %w", idsFile, got, x.SHA256,
			store.ErrCorrupt)
	}
	return n, ctx.Err()
}
