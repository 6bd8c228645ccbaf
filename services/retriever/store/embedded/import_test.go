package embedded

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// part is a file of an export.
type part struct {
	header tar.Header
	data   []byte
}

// exported is what Export writes, in pieces that can be changed.
func exported(t testing.TB, s *Store) []part {
	t.Helper()
	var file bytes.Buffer
	if err := s.Export(t.Context(), "world", 0, &file); err != nil {
		t.Fatal(err)
	}
	var parts []part
	for in := tar.NewReader(&file); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part{*h, data})
	}
}

func repacked(t testing.TB, parts []part) []byte {
	t.Helper()
	var file bytes.Buffer
	out := tar.NewWriter(&file)
	for _, p := range parts {
		p.header.Size = int64(len(p.data))
		if err := out.WriteHeader(&p.header); err != nil {
			t.Fatal(err)
		}
		if p.header.Typeflag != tar.TypeReg {
			continue
		}
		if _, err := out.Write(p.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// rewrite changes a manifest, and the sums in it with the files.
func rewrite(t testing.TB, parts []part, change func(*manifest)) {
	t.Helper()
	m, err := parseManifest(parts[0].data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts[2:] {
		if _, ok := m.Files[p.header.Name]; ok {
			m.Files[p.header.Name] = fileSum{Bytes: int64(len(p.data)), SHA256: hexSum(p.data)}
		}
	}
	change(&m)
	if parts[0].data, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	find(parts, sumName).data = []byte(hexSum(parts[0].data) + "  " + manifestName + "\n")
}

func find(parts []part, name string) *part {
	i := slices.IndexFunc(parts, func(p part) bool { return p.header.Name == name })
	return &parts[i]
}

// TestAHostileFileIsNotImported changes an export as an attacker would who knows
// its form: all checksums are right.
func TestAHostileFileIsNotImported(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World(), [2]string{"Paris", "Lutetia"})
	fill := func(name string, value byte) func([]part) []part {
		return func(parts []part) []part {
			data := find(parts, name).data
			for i := range data[:len(data)-8] {
				data[i] = value
			}
			rewrite(t, parts, func(*manifest) {})
			return parts
		}
	}
	counting := func(change func(*manifest)) func([]part) []part {
		return func(parts []part) []part { rewrite(t, parts, change); return parts }
	}
	for name, c := range map[string]struct {
		change func([]part) []part
		want   error
		says   string
	}{
		"an empty file": {func([]part) []part { return nil }, store.ErrCorrupt, "cut off"},
		"no manifest":   {func(p []part) []part { return p[1:] }, store.ErrInvalid, "begins with"},
		"a path that leads out": {func(p []part) []part {
			return append(p, part{tar.Header{Typeflag: tar.TypeReg, Name: "../../escaped", Mode: 0o644}, []byte("x")})
		}, store.ErrInvalid, "does not name"},
		"a path that leads out and a manifest that names it": {func(p []part) []part {
			p = append(p, part{tar.Header{Typeflag: tar.TypeReg, Name: "../escaped", Mode: 0o644}, []byte("x")})
			rewrite(t, p, func(m *manifest) { m.Files["../escaped"] = fileSum{1, hexSum([]byte("x"))} })
			return p
		}, store.ErrCorrupt, "escaped"},
		"a link": {func(p []part) []part {
			return append(p, part{tar.Header{Typeflag: tar.TypeSymlink, Name: "entities.text", Linkname: "/etc/passwd"},
				nil})
		}, store.ErrInvalid, "not a regular file"},
		"a file twice": {func(p []part) []part { return append(p, p[3]) }, store.ErrInvalid, "twice"},
		"no checksum of the manifest": {func(p []part) []part { return slices.Delete(p, 1, 2) }, store.ErrCorrupt,
			sumName + " is cut off"},
		"a manifest that is not what its checksum says": {func(p []part) []part {
			p[0].data = bytes.Replace(p[0].data, []byte("test-hash"), []byte("rest-hash"), 1)
			return p
		}, store.ErrCorrupt, "export it again"},
		"a file too few": {func(p []part) []part { return slices.Delete(p, 5, 6) }, store.ErrCorrupt, "cut off"},
		"a huge manifest": {func(p []part) []part {
			p[0].data = append(p[0].data, bytes.Repeat([]byte(" "), maxManifest)...)
			return p
		}, store.ErrInvalid, "the limit is"},
		"a manifest of noise": {func(p []part) []part { p[0].data = []byte("{noise"); return p },
			store.ErrCorrupt, manifestName},
		"a newer format": {func(p []part) []part {
			p[0].data = []byte(
				`{"format": 9, "files": 7}`)
			return p
		}, store.ErrFormat, "its format is 9, this program reads 2"},
		"a format of old": {func(p []part) []part { p[0].data = []byte(`{"format": 1}`); return p },
			store.ErrFormat, "load the files again"},
		"a delta": {counting(func(m *manifest) { m.Base = &base{Number: 1} }),
			store.ErrInvalid, "delta"},
		"huge counts": {counting(func(m *manifest) { m.Triples, m.Own.Triples = 1<<31, 1<<31 }),
			store.ErrCorrupt, ""},
		"impossible counts": {counting(func(m *manifest) { m.Own.Entities = 1 << 40 }),
			store.ErrCorrupt, ""},
		"negative counts": {counting(func(m *manifest) { m.Own.Triples = -1 }), store.ErrCorrupt,
			""},
		"a huge size": {counting(func(m *manifest) {
			m.Files[vectorsFile] = fileSum{1 << 60,
				""}
		}), store.ErrCorrupt, ""},
		"counts at odds": {counting(func(m *manifest) { m.Triples = 3 }), store.ErrCorrupt,
			"inconsistent"},
		"huge dims":                          {counting(func(m *manifest) { m.Dims = 1 << 50 }), store.ErrCorrupt, ""},
		"objects that are not":               {fill(tripleObjFile, 0xff), store.ErrCorrupt, ""},
		"relations that are not":             {fill(tripleRelFile, 0xff), store.ErrCorrupt, ""},
		"subjects in no order":               {fill(outFile, 0xaa), store.ErrCorrupt, ""},
		"wrong samples":                      {fill(samplesFile, 0x1f), store.ErrCorrupt, ""},
		"triples by object twice":            {fill(byObjectFile, 0), store.ErrCorrupt, ""},
		"other subjects by object":           {fill(inSubjectsFile, 0), store.ErrCorrupt, ""},
		"other relations by object":          {fill(inRelationsFile, 0), store.ErrCorrupt, ""},
		"objects in no order":                {fill(inFile, 0xaa), store.ErrCorrupt, ""},
		"texts in no order":                  {fill(offsetsFile(entitiesFile), 0xff), store.ErrCorrupt, ""},
		"wrong counts":                       {fill(countsFile, 0), store.ErrCorrupt, ""},
		"unknown kinds":                      {fill(kindsFile, 0xff), store.ErrCorrupt, ""},
		"names that are the same":            {fill(entitiesFile, 'x'), store.ErrCorrupt, ""},
		"aliases of nobody":                  {fill(aliasHolderFile, 0xff), store.ErrCorrupt, ""},
		"validities of triples that are not": {fill(datedFile, 0xff), store.ErrCorrupt, ""},
		"vectors of NaN":                     {fill(vectorsFile, 0xff), store.ErrCorrupt, ""},
		"relation vectors of NaN":            {fill(relVectorFile, 0xff), store.ErrCorrupt, ""},
		"a name index of noise": {func(p []part) []part {
			clear(find(p, namesFile).data)
			rewrite(t, p, func(*manifest) {})
			return p
		}, store.ErrCorrupt, ""},
	} {
		before := tree(t, s.dir)
		file := repacked(t, c.change(exported(t, s)))
		_, err := s.Import(t.Context(), "hostile", bytes.NewReader(file))
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: error is %v, want %v that says %q", name, err, c.want, c.says)
		}
		if after := tree(t, s.dir); !slices.Equal(after, before) {
			t.Errorf("%s left %v, before there was %v", name, after, before)
		}
	}
	if _, err := s.Import(t.Context(), "..", bytes.NewReader(repacked(t, exported(t, s)))); !errors.Is(err,
		store.ErrInvalid) {
		t.Errorf("a name that leads out: %v", err)
	}
}

// FuzzImport imports what was an export. Whatever comes of it, nothing may
// panic, and what is imported can be read.
func FuzzImport(f *testing.F) {
	s := newStore(f)
	buildWorld(f, s)
	parts := exported(f, s)
	for i := range parts {
		f.Add(i, 0, byte(1))
		f.Add(i, len(parts[i].data)/2, byte(0x80))
	}
	f.Fuzz(func(t *testing.T, file, at int, bits byte) {
		parts := exported(t, s)
		if file < 0 || file >= len(parts) || at < 0 || at >= len(parts[file].data) || bits == 0 {
			return
		}
		data := parts[file].data
		data[at] ^= bits
		// With its checksum put right, so that the content is looked at.
		switch {
		case file > 1:
			rewrite(t, parts, func(*manifest) {})
		case file == 0:
			parts[1].data = []byte(hexSum(data))
		}
		to := newStore(t)
		info, err := to.Import(t.Context(), "fuzzed", bytes.NewReader(repacked(t, parts)))
		if err != nil {
			if listed, _ := to.List(t.Context(), ""); len(listed) > 0 {
				t.Errorf("after %v there is %v", err, listed)
			}
			return
		}
		snap, err := to.Open(t.Context(), "fuzzed", info.Number)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Release()
		if _, err := storetest.Dump(t.Context(), snap); err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// buildWorld loads the small graph, without the helpers of tests.
func buildWorld(f *testing.F, s *Store) {
	f.Helper()
	names := []string{"France", "Lyon", "Paris"}
	entities := make([]store.NamedEntity, len(names))
	for i, name := range names {
		entities[i] = store.NamedEntity{Name: name}
	}
	vector := func(i int) []float32 {
		v := make([]float32, 4)
		v[i%4] = 1
		return v
	}
	info, err := s.Write(f.Context(), "world", store.Content{
		Entities: store.SliceStream(entities), EntityCount: 3, Relations: []string{"capital of", "located in"},
		Triples: store.SliceStream([]store.DatedTriple{
			{Triple: store.Triple{Subject: 1, Relation: 1, Object: 0}},
			{Triple: store.Triple{Subject: 2, Relation: 0, Object: 0}, Validity: store.Validity{Start: "0987"}},
			{Triple: store.Triple{Subject: 2, Relation: 1, Object: 0}},
		}), TripleCount: 3,
		Aliases: store.SliceStream([]store.Alias{{Entity: 2, Name: "Lutetia"}}),
		Encoder: "test", Dims: 4, RelationVectors: [][]float32{vector(0), vector(1)},
		TripleVectors: store.SliceStream([][]float32{vector(1), vector(2), vector(3)}),
	})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := s.Activate(f.Context(), "world", info.Number); err != nil {
		f.Fatal(err)
	}
}

// TestAFailingDiskImportsNothing fails every operation of an import in turn.
func TestAFailingDiskImportsNothing(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World())
	file := repacked(t, exported(t, s))
	left := tree(t, s.dir)
	operations := map[string]bool{}
	for at := 0; ; at++ {
		broken := &failingDisk{at: at, fail: func(string) error { return syscall.ENOSPC }}
		s.disk = broken
		_, err := s.Import(t.Context(), "world", bytes.NewReader(file))
		if len(broken.calls) <= at {
			if err != nil {
				t.Fatalf("nothing failed, but: %v", err)
			}
			break
		}
		operations[broken.calls[at]] = true
		if !errors.Is(err, store.ErrFull) {
			t.Fatalf("operation %d, %s: error is %v", at, broken.calls[at], err)
		}
		if now := tree(t, s.dir); !slices.Equal(now, left) {
			t.Fatalf("operation %d, %s: left behind %v, want %v", at, broken.calls[at], now, left)
		}
	}
	if len(operations) < 6 {
		t.Errorf("only %v failed", slices.Sorted(maps.Keys(operations)))
	}
}

func TestImportOfAFileThatIsNotAnExport(t *testing.T) {
	for name, text := range map[string]string{
		"one triple":   "Ann\tknows\tBob\n",
		"many triples": strings.Repeat("Ann\tknows\tBob\n", 1000),
	} {
		_, err := newStore(t).Import(t.Context(), "", strings.NewReader(text))
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(fmt.Sprint(err),
			"import knowledge graph: the file is not "+
				"an exported snapshot; load triples with `triplemesh kg load`") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
