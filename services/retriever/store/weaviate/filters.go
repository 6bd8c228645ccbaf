package weaviate

import (
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
)

// Filters are put together from typed values alone; no text of a user becomes
// a part of a query.

func on(property string, operator pb.Filters_Operator) *pb.Filters {
	return &pb.Filters{
		Operator: operator,
		Target:   &pb.FilterTarget{Target: &pb.FilterTarget_Property{Property: property}},
	}
}

// anyOf lets rows through whose property is one of some numbers.
func anyOf[N ~uint32](property string, numbers []N) *pb.Filters {
	values := make([]int64, len(numbers))
	for i, n := range numbers {
		values[i] = int64(n)
	}
	f := on(property, pb.Filters_OPERATOR_CONTAINS_ANY)
	f.TestValue = &pb.Filters_ValueIntArray{ValueIntArray: &pb.IntArray{Values: values}}
	return f
}

// identified lets the row of an id through.
func identified(id string) *pb.Filters {
	f := on("_id", pb.Filters_OPERATOR_EQUAL)
	f.TestValue = &pb.Filters_ValueText{ValueText: id}
	return f
}

func compared(property string, operator pb.Filters_Operator, number int64) *pb.Filters {
	f := on(property, operator)
	f.TestValue = &pb.Filters_ValueInt{ValueInt: number}
	return f
}

// between lets rows through whose property is at least from and less than to.
func between(property string, from, to int64) *pb.Filters {
	return both(
		compared(property, pb.Filters_OPERATOR_GREATER_THAN_EQUAL, from),
		compared(property, pb.Filters_OPERATOR_LESS_THAN, to),
	)
}

// both joins filters; nil ones let everything through.
func both(filters ...*pb.Filters) *pb.Filters {
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
