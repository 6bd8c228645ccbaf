package weaviate

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// The properties of rows. They come with every row, so their names are short.
const (
	// A vector's row has the numbers of its triple's subject and relation, and the days of its validity if
	// the graph is dated, so that the server can filter; and the block of numbers that it is in, so that
	// rows can be counted.
	propSubject, propRelation, propFrom, propTo, propBlock = "s", "r", "from", "to", "b"
	// A piece of the structure.
	propData = "d"
)

// rowID is the id of a row: its number. What is sent twice is there once.
func rowID(number uint32) string {
	var id uuid.UUID
	id[6], id[8] = 0x80, 0x80 // version 8: made by the application
	binary.BigEndian.PutUint32(id[12:], number)
	return id.String()
}

// row is one that came back.
type row struct {
	number uint32
	result *pb.SearchResult
}

// readRow reads the number in the id of a row.
func readRow(result *pb.SearchResult) (row, error) {
	id, err := uuid.Parse(result.GetMetadata().GetId())
	number := binary.BigEndian.Uint32(id[12:])
	if err != nil || id.String() != rowID(number) {
		return row{}, fmt.Errorf("a row has the id %q: %w", result.GetMetadata().GetId(), store.ErrCorrupt)
	}
	return row{number, result}, nil
}

// property returns a property of the row, which lacks it if it is nil.
func (r row) property(name string) *pb.Value {
	return r.result.GetProperties().GetNonRefProps().GetFields()[name]
}

// numberRange lists the numbers from one on, below another.
func numberRange(from, to uint32) []uint32 {
	numbers := make([]uint32, 0, to-from)
	for n := from; n < to; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// rowBuilder is a row on its way into the store.
type rowBuilder struct {
	object *pb.BatchObject
	fields map[string]*structpb.Value
}

func newRow(collection string, number uint32) *rowBuilder {
	fields := map[string]*structpb.Value{}
	return &rowBuilder{fields: fields, object: &pb.BatchObject{
		Uuid: rowID(number), Collection: collection,
		Properties: &pb.BatchObject_Properties{NonRefProperties: &structpb.Struct{Fields: fields}},
	}}
}

func (b *rowBuilder) int(property string, value int64) *rowBuilder {
	b.fields[property] = structpb.NewNumberValue(float64(value))
	return b
}

func (b *rowBuilder) text(property, value string) *rowBuilder {
	b.fields[property] = structpb.NewStringValue(value)
	return b
}

func (b *rowBuilder) vector(v []float32) *rowBuilder {
	b.object.VectorBytes = vectorBytes(v)
	return b
}

func vectorBytes(v []float32) []byte {
	bytes := make([]byte, 0, 4*len(v))
	for _, x := range v {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	return bytes
}

// vector is that of the row, of so many components.
func (r row) vector(dims int) ([]float32, error) {
	bytes := r.result.GetMetadata().GetVectorBytes()
	if bytes == nil && len(r.result.GetMetadata().GetVectors()) == 1 {
		bytes = r.result.GetMetadata().GetVectors()[0].GetVectorBytes()
	}
	if len(bytes) != 4*dims {
		return nil, fmt.Errorf("a vector of %d bytes, want %d components: %w", len(bytes), dims, store.ErrCorrupt)
	}
	v := make([]float32, dims)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
	return v, nil
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
	var values []int64
	for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers))) {
		values = append(values, int64(n))
	}
	f := propertyFilter(property, pb.Filters_OPERATOR_CONTAINS_ANY)
	f.TestValue = &pb.Filters_ValueIntArray{ValueIntArray: &pb.IntArray{Values: values}}
	return f
}

// byNumbers matches the rows with one of the numbers.
func byNumbers(numbers []uint32) *pb.Filters {
	ids := make([]string, len(numbers))
	for i, n := range numbers {
		ids[i] = rowID(n)
	}
	f := propertyFilter("_id", pb.Filters_OPERATOR_CONTAINS_ANY)
	f.TestValue = &pb.Filters_ValueTextArray{ValueTextArray: &pb.TextArray{Values: ids}}
	return f
}

func compareFilter(property string, operator pb.Filters_Operator, number int64) *pb.Filters {
	f := propertyFilter(property, operator)
	f.TestValue = &pb.Filters_ValueInt{ValueInt: number}
	return f
}

// allOf returns the conjunction of the filters; nil matches all rows.
func allOf(filters []*pb.Filters) *pb.Filters {
	switch len(filters) {
	case 0:
		return nil
	case 1:
		return filters[0]
	}
	return &pb.Filters{Operator: pb.Filters_OPERATOR_AND, Filters: filters}
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
