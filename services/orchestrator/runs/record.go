package runs

import (
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// ErrDamaged is the error of a record whose checksum does not match.
var ErrDamaged = errors.New("the record is damaged")

// The last field of a record is the CRC-32C of all bytes before it, a fixed32 with a field number that
// the message reserves: every reader of the contract can parse a record.
const (
	sumField = 2047
	sumSize  = 2 + 4 // the field's tag, and the sum
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// EncodeRecord returns the record of a message, which must not have its record_checksum set.
func EncodeRecord(m proto.Message) ([]byte, error) {
	record, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	sum := crc32.Checksum(record, castagnoli)
	record = protowire.AppendTag(record, sumField, protowire.Fixed32Type)
	return protowire.AppendFixed32(record, sum), nil
}

// decodeRecord decodes the record of the message id by as. The error is ErrDamaged.
func decodeRecord[M interface{ GetId() string }](data []byte, id string, as func([]byte) (M, error)) (M, error) {
	var none M
	message, err := VerifyRecord(data)
	if err != nil {
		return none, err
	}
	m, err := as(message)
	if err != nil {
		return none, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if m.GetId() != id {
		return none, fmt.Errorf("%w: it is that of %q", ErrDamaged, m.GetId())
	}
	return m, nil
}

// VerifyRecord returns the serialised message of a record without its checksum. The error is ErrDamaged.
func VerifyRecord(record []byte) ([]byte, error) {
	n := len(record) - sumSize
	if n < 0 {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrDamaged, len(record))
	}
	if number, kind, tag := protowire.ConsumeTag(record[n:]); number != sumField || kind != protowire.Fixed32Type ||
		tag+4 != sumSize {
		return nil, fmt.Errorf("%w: it does not end in a checksum", ErrDamaged)
	}
	want, _ := protowire.ConsumeFixed32(record[len(record)-4:])
	if got := crc32.Checksum(record[:n], castagnoli); got != want {
		return nil, fmt.Errorf("%w: its checksum is %08x, want %08x", ErrDamaged, got, want)
	}
	return record[:n], nil
}

// ReportOnce returns a function that calls report with the first error of each path; report may be nil.
func ReportOnce(report func(path string, err error)) func(path string, err error) {
	var reported sync.Map
	return func(path string, err error) {
		if _, before := reported.LoadOrStore(path, true); !before && report != nil {
			report(path, err)
		}
	}
}
