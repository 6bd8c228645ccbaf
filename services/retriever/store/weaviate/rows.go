package weaviate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/google/uuid"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// The properties of rows. They come with every row, so their names are short.
const (
	// A fact is a triple: its number, its place in the order of objects, and
	// the numbers of subject, relation and object.
	propTriple, propPlace                 = "t", "p"
	propSubject, propRelation, propObject = "s", "r", "o"
	// its validity as two days, and as the graph wrote it.
	propFrom, propTo, propValidity = "from", "to", "v"
	// the names of subject and object, and kind, degrees out and in of both: who
	// reads an edge knows its ends.
	propEnds, propNames = "e", "n"

	// An entity is its number, name, kind, then where its edges out begin and
	// how many there are, the same for those in, and pairs of relation and edges
	// for both directions.
	propNumber, propName, propShape = "i", "n", "k"
	propOut, propIn                 = "out", "in"

	// A relation has a number, a name and how many triples.
	propCount = "c"

	// A piece of the name index.
	propData = "d"
)

// idOf is the id of a row: that of the same row is the same in every attempt,
// so that what is sent twice is there once.
func idOf(kind string, key []byte) string {
	sum := sha256.Sum256(append([]byte(kind), key...))
	var id uuid.UUID
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8: made by the application
	return id.String()
}

func numbered(kind string, number uint32) string {
	return idOf(kind, binary.BigEndian.AppendUint32(nil, number))
}

// entityID is made of the name, which so needs no index.
func entityID(name string) string { return idOf("entity ", []byte(name)) }

// building is a row on its way into the store.
type building struct {
	object  *pb.BatchObject
	numbers map[string]*structpb.Value
}

func build(collection, id string) *building {
	numbers := map[string]*structpb.Value{}
	return &building{numbers: numbers, object: &pb.BatchObject{
		Uuid: id, Collection: collection,
		Properties: &pb.BatchObject_Properties{NonRefProperties: &structpb.Struct{Fields: numbers}},
	}}
}

func (b *building) int(property string, value int64) *building {
	b.numbers[property] = structpb.NewNumberValue(float64(value))
	return b
}

func (b *building) text(property, value string) *building {
	b.numbers[property] = structpb.NewStringValue(value)
	return b
}

func (b *building) ints(property string, values []int64) *building {
	if len(values) > 0 {
		p := b.object.Properties
		p.IntArrayProperties = append(p.IntArrayProperties, &pb.IntArrayProperties{PropName: property, Values: values})
	}
	return b
}

func (b *building) texts(property string, values ...string) *building {
	p := b.object.Properties
	p.TextArrayProperties = append(p.TextArrayProperties, &pb.TextArrayProperties{PropName: property, Values: values})
	return b
}

func (b *building) vector(v []float32) *building {
	if v != nil {
		bytes := make([]byte, 0, 4*len(v))
		for _, x := range v {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
		}
		b.object.VectorBytes = bytes
	}
	return b
}

// row is one that came back. It remembers the first thing that is wrong with
// it.
type row struct {
	collection string
	fields     map[string]*pb.Value
	result     *pb.SearchResult
	err        error
}

func read(collection string, result *pb.SearchResult) *row {
	return &row{collection: collection, fields: result.GetProperties().GetNonRefProps().GetFields(), result: result}
}

func (r *row) wrong(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("a row of collection %s %s: %w", r.collection, fmt.Sprintf(format, args...), store.ErrCorrupt)
	}
}

func (r *row) int(property string) int64 {
	switch v := r.fields[property].GetKind().(type) {
	case *pb.Value_IntValue:
		return v.IntValue
	case *pb.Value_NumberValue:
		return int64(v.NumberValue)
	}
	r.wrong("lacks the number %q", property)
	return 0
}

// number is an int from 0 to below a limit.
func (r *row) number(property string, limit int) uint32 {
	n := r.int(property)
	if r.err == nil && (n < 0 || n >= int64(limit)) {
		r.wrong("has %q of %d, there are %d", property, n, limit)
	}
	return uint32(n)
}

func (r *row) text(property string) string {
	v, ok := r.fields[property].GetKind().(*pb.Value_TextValue)
	if !ok {
		r.wrong("lacks the text %q", property)
		return ""
	}
	return v.TextValue
}

// ints are none where the property is not there.
func (r *row) ints(property string) []int64 {
	bytes := r.fields[property].GetListValue().GetIntValues().GetValues()
	values := make([]int64, len(bytes)/8)
	for i := range values {
		values[i] = int64(binary.LittleEndian.Uint64(bytes[8*i:]))
	}
	return values
}

func (r *row) exactInts(property string, n int) []int64 {
	values := r.ints(property)
	if len(values) != n {
		r.wrong("has %d numbers %q, want %d", len(values), property, n)
		return make([]int64, n)
	}
	return values
}

func (r *row) exactTexts(property string, n int) []string {
	values := r.fields[property].GetListValue().GetTextValues().GetValues()
	if len(values) != n {
		r.wrong("has %d texts %q, want %d", len(values), property, n)
		return make([]string, n)
	}
	return values
}

// vector is the row's, of so many components.
func (r *row) vector(dims int) []float32 {
	bytes := r.result.GetMetadata().GetVectorBytes()
	if bytes == nil && len(r.result.GetMetadata().GetVectors()) == 1 {
		bytes = r.result.GetMetadata().GetVectors()[0].GetVectorBytes()
	}
	if len(bytes) != 4*dims {
		r.wrong("has a vector of %d bytes, want %d components", len(bytes), dims)
		return make([]float32, dims)
	}
	v := make([]float32, dims)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
	return v
}
