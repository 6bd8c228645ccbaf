package embedded

import (
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/pages"
)

// naming is a name index that is opened when it is first needed. Its files
// are compared whole then: a lookup goes through them in no order that could
// be told beforehand.
type naming struct {
	names, holders *pages.File

	mutex sync.Mutex
	index *nameindex.Index
}

// open returns the index. It stands within store.Guard.
func (n *naming) open() (*nameindex.Index, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.index != nil {
		return n.index, nil
	}
	names := n.names.Bytes(0, n.names.Len())
	holders := n.holders.Bytes(0, n.holders.Len())
	index, err := nameindex.Open(names, holders)
	n.index = index
	return index, err
}
