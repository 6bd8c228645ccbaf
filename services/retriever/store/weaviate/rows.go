package weaviate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

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
	// the names of subject and object, and kind, degrees out and in of both: so an
	// edge is read together with its ends.
	propEnds, propNames = "e", "n"
	// where it comes from, if that is kept.
	propProvenance = "from_source"

	// An entity is its number, name, kind, then where its edges out begin and how many there are,
	// the same for those in, and pairs of relation and edges for both directions.
	propNumber, propName, propShape = "i", "n", "k"
	propOut, propIn                 = "out", "in"
	// its key, if some entity has one besides its name; facts then have the keys of both
	// ends after their names.
	propKey = "key"

	// A relation has a number, a name and how many triples.
	propCount = "c"

	// A piece of the name index.
	propData = "d"
)

// rowID is the id of a row: that of the same row is the same in every attempt,
// so that what is sent twice is there once.
func rowID(kind string, key []byte) string {
	sum := sha256.Sum256(append([]byte(kind), key...))
	var id uuid.UUID
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8: made by the application
	return id.String()
}

func numberedID(kind string, number uint32) string {
	return rowID(kind, binary.BigEndian.AppendUint32(nil, number))
}

// entityID is made of the name, which so needs no index.
func entityID(name string) string { return rowID("entity ", []byte(name)) }

// rowBuilder is a row on its way into the store.
type rowBuilder struct {
	object  *pb.BatchObject
	numbers map[string]*structpb.Value
}

func newRow(collection, id string) *rowBuilder {
	numbers := map[string]*structpb.Value{}
	return &rowBuilder{numbers: numbers, object: &pb.BatchObject{
		Uuid: id, Collection: collection,
		Properties: &pb.BatchObject_Properties{NonRefProperties: &structpb.Struct{Fields: numbers}},
	}}
}

func (b *rowBuilder) int(property string, value int64) *rowBuilder {
	b.numbers[property] = structpb.NewNumberValue(float64(value))
	return b
}

func (b *rowBuilder) text(property, value string) *rowBuilder {
	b.numbers[property] = structpb.NewStringValue(value)
	return b
}

func (b *rowBuilder) ints(property string, values []int64) *rowBuilder {
	if len(values) > 0 {
		p := b.object.Properties
		p.IntArrayProperties = append(p.IntArrayProperties, &pb.IntArrayProperties{PropName: property, Values: values})
	}
	return b
}

func (b *rowBuilder) texts(property string, values ...string) *rowBuilder {
	p := b.object.Properties
	p.TextArrayProperties = append(p.TextArrayProperties, &pb.TextArrayProperties{PropName: property, Values: values})
	return b
}

func (b *rowBuilder) vector(v []float32) *rowBuilder {
	if v != nil {
		bytes := make([]byte, 0, 4*len(v))
		for _, x := range v {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
		}
		b.object.VectorBytes = bytes
	}
	return b
}

// resultRow is one that came back. It remembers the first thing that is wrong with it.
type resultRow struct {
	collection string
	fields     map[string]*pb.Value
	result     *pb.SearchResult
	err        error
}

func newResultRow(collection string, result *pb.SearchResult) *resultRow {
	return &resultRow{collection: collection, fields: result.GetProperties().GetNonRefProps().GetFields(),
		result: result}
}

func (r *resultRow) corruptf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("a row of collection %s %s: %w", r.collection, fmt.Sprintf(format, args...),
			store.ErrCorrupt)
	}
}

func (r *resultRow) int(property string) int64 {
	switch v := r.fields[property].GetKind().(type) {
	case *pb.Value_IntValue:
		return v.IntValue
	case *pb.Value_NumberValue:
		return int64(v.NumberValue)
	}
	r.corruptf("lacks the number %q", property)
	return 0
}

// number is an int from 0 to below a limit.
func (r *resultRow) number(property string, limit int) uint32 {
	n := r.int(property)
	if r.err == nil && (n < 0 || n >= int64(limit)) {
		r.corruptf("has %q of %d, there are %d", property, n, limit)
	}
	return uint32(n)
}

func (r *resultRow) text(property string) string {
	v, ok := r.fields[property].GetKind().(*pb.Value_TextValue)
	if !ok {
		r.corruptf("lacks the text %q", property)
		return ""
	}
	return v.TextValue
}

// optionalText returns nothing if the row lacks the property.
func (r *resultRow) optionalText(property string) string {
	return r.fields[property].GetTextValue()
}

// ints returns nil if the row lacks the property.
func (r *resultRow) ints(property string) []int64 {
	bytes := r.fields[property].GetListValue().GetIntValues().GetValues()
	values := make([]int64, len(bytes)/8)
	for i := range values {
		values[i] = int64(binary.LittleEndian.Uint64(bytes[8*i:]))
	}
	return values
}

func (r *resultRow) exactInts(property string, n int) []int64 {
	values := r.ints(property)
	if len(values) != n {
		r.corruptf("has %d numbers %q, want %d", len(values), property, n)
		return make([]int64, n)
	}
	return values
}

func (r *resultRow) exactTexts(property string, n int) []string {
	values := r.fields[property].GetListValue().GetTextValues().GetValues()
	if len(values) != n {
		r.corruptf("has %d texts %q, want %d", len(values), property, n)
		return make([]string, n)
	}
	return values
}

// vector is the row's, of so many components.
func (r *resultRow) vector(dims int) []float32 {
	bytes := r.result.GetMetadata().GetVectorBytes()
	if bytes == nil && len(r.result.GetMetadata().GetVectors()) == 1 {
		bytes = r.result.GetMetadata().GetVectors()[0].GetVectorBytes()
	}
	if len(bytes) != 4*dims {
		r.corruptf("has a vector of %d bytes, want %d components", len(bytes), dims)
		return make([]float32, dims)
	}
	v := make([]float32, dims)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
	return v
}

// Filters are put together from typed values alone; no text of a user becomes a part of a query.

func propertyFilter(property string, operator pb.Filters_Operator) *pb.Filters {
	return &pb.Filters{
		Operator: operator,
		Target:   &pb.FilterTarget{Target: &pb.FilterTarget_Property{Property: property}},
	}
}

// anyOf matches rows whose property is one of the numbers.
func anyOf[N ~uint32](property string, numbers []N) *pb.Filters {
	values := make([]int64, len(numbers))
	for i, n := range numbers {
		values[i] = int64(n)
	}
	f := propertyFilter(property, pb.Filters_OPERATOR_CONTAINS_ANY)
	f.TestValue = &pb.Filters_ValueIntArray{ValueIntArray: &pb.IntArray{Values: values}}
	return f
}

// byID matches the row with an id.
func byID(id string) *pb.Filters { return byText("_id", id) }

// byText matches rows whose property is a text.
func byText(property, text string) *pb.Filters {
	f := propertyFilter(property, pb.Filters_OPERATOR_EQUAL)
	f.TestValue = &pb.Filters_ValueText{ValueText: text}
	return f
}

func compareFilter(property string, operator pb.Filters_Operator, number int64) *pb.Filters {
	f := propertyFilter(property, operator)
	f.TestValue = &pb.Filters_ValueInt{ValueInt: number}
	return f
}

// between matches rows whose property is at least from and less than to.
func between(property string, from, to int64) *pb.Filters {
	return allOf(
		compareFilter(property, pb.Filters_OPERATOR_GREATER_THAN_EQUAL, from),
		compareFilter(property, pb.Filters_OPERATOR_LESS_THAN, to),
	)
}

// allOf returns the conjunction of the filters; nil matches all rows.
func allOf(filters ...*pb.Filters) *pb.Filters {
	var some []*pb.Filters
	for _, f := range filters {
		if f != nil {
			some = append(some, f)
		}
	}
	switch len(some) {
	case 0:
		return nil
	case 1:
		return some[0]
	}
	return &pb.Filters{Operator: pb.Filters_OPERATOR_AND, Filters: some}
}

// A validity is stored as two days, yyyymmdd, so that the server can leave out what does not hold
// at a date. If a date cannot be read as a day its side is open: the server may let too much
// through, never too little, and store.Validity.Covers has the last word.

const (
	minDay = int64(-1) << 50
	maxDay = int64(1) << 50
)

func validityDays(v store.Validity) (from, to int64) {
	from, to = minDay, maxDay
	if first, _, ok := dateRange(v.Start); ok {
		from = first
	}
	if _, last, ok := dateRange(v.End); ok {
		to = last
	}
	return from, to
}

// dateRange is the first and the last day that an ISO 8601 date may mean.
func dateRange(date string) (first, last int64, ok bool) {
	text, negative := strings.CutPrefix(date, "-")
	if !negative {
		text = strings.TrimPrefix(date, "+")
	}
	year, rest, _ := strings.Cut(text, "-")
	y, err := strconv.ParseUint(year, 10, 31) // a second sign is no date
	if err != nil || len(year) > 9 {
		return 0, 0, false
	}
	if first = int64(y) * 10_000; negative {
		first = -first
	}
	last = first + 9_999
	if rest == "" {
		return first, last, !strings.HasSuffix(text, "-")
	}
	month, rest, _ := strings.Cut(rest, "-")
	m, ok := twoDigits(month)
	if !ok {
		// A quarter or a week, for example: only the year is known.
		return first, last, true
	}
	first, last = first+100*m, first+100*m+99
	if len(rest) < 2 {
		return first, last, true
	}
	if d, ok := twoDigits(rest[:2]); ok {
		first, last = first+d, first+d
	}
	return first, last, true
}

func twoDigits(text string) (int64, bool) {
	if len(text) != 2 || text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9' {
		return 0, false
	}
	return int64(text[0]-'0')*10 + int64(text[1]-'0'), true
}
