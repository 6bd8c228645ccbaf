package runs

import (
	"errors"
	"fmt"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ErrDamaged says that a run's file is not what was written.
var ErrDamaged = errors.New("the record is damaged")

// A record is a serialised run, whose last field is the checksum of all before
// it: CRC-32C, as a fixed32 of a number that Run reserves. So it is a run to
// any program that reads the contract, and a file that was cut or changed is
// known from one that was not.
const (
	sumField = 2047
	sumSize  = 2 + 4 // the field's tag, and the sum
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode makes a run's record.
func encode(run *orchestratorv1.Run) ([]byte, error) {
	record, err := proto.Marshal(run)
	if err != nil {
		return nil, err
	}
	sum := crc32.Checksum(record, castagnoli)
	record = protowire.AppendTag(record, sumField, protowire.Fixed32Type)
	return protowire.AppendFixed32(record, sum), nil
}

// decodeKept is decode for a record of a database: builds before the checksum
// kept the run alone.
func decodeKept(record []byte, id string, as func([]byte) (*orchestratorv1.Run, error)) (*orchestratorv1.Run, error) {
	if n := len(record) - sumSize; n >= 0 {
		if number, kind, _ := protowire.ConsumeTag(record[n:]); number == sumField && kind == protowire.Fixed32Type {
			return decode(record, id, as)
		}
	}
	return decodeRun(record, id, as)
}

// decode reads the record of the run with an id, whole or in outline. The error
// is ErrDamaged.
func decode(record []byte, id string, as func([]byte) (*orchestratorv1.Run, error)) (*orchestratorv1.Run, error) {
	n := len(record) - sumSize
	if n < 0 {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrDamaged, len(record))
	}
	number, kind, tag := protowire.ConsumeTag(record[n:])
	if number != sumField || kind != protowire.Fixed32Type || tag+4 != sumSize {
		return nil, fmt.Errorf("%w: it does not end in a checksum", ErrDamaged)
	}
	want, _ := protowire.ConsumeFixed32(record[n+tag:])
	if got := crc32.Checksum(record[:n], castagnoli); got != want {
		return nil, fmt.Errorf("%w: its checksum is %08x, want %08x", ErrDamaged, got, want)
	}
	return decodeRun(record[:n], id, as)
}

func decodeRun(record []byte, id string, as func([]byte) (*orchestratorv1.Run, error)) (*orchestratorv1.Run, error) {
	run, err := as(record)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if run.GetId() != id {
		return nil, fmt.Errorf("%w: it is of the run %q", ErrDamaged, run.GetId())
	}
	return run, nil
}
