package weaviate

import (
	"errors"
	"fmt"
	"sync/atomic"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// nodes are the connections to the nodes of a cluster. gRPC's round robin would spread calls too, but
// other calls take turns as well, so that a call that is tried again may meet the same node.
type nodes struct {
	conns []*grpc.ClientConn
	turn  atomic.Uint32
}

func connect(addresses []string, options ...grpc.DialOption) (*nodes, error) {
	n := &nodes{}
	scheme := "dns"
	if len(addresses) > 1 {
		// A pod that comes back has another address: it is looked up at each connection, not every 30 s.
		scheme = "passthrough"
	}
	for _, address := range addresses {
		conn, err := grpc.NewClient(scheme+":///"+address, options...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("dial weaviate at %s: %w", address, err), n.close())
		}
		n.conns = append(n.conns, conn)
	}
	return n, nil
}

// next returns the clients of successive attempts of one call: those of different nodes, as long as
// more than one is connected.
func (n *nodes) next() func() pb.WeaviateClient {
	turn := n.turn.Add(1)
	return func() pb.WeaviateClient {
		var ready []*grpc.ClientConn
		for _, conn := range n.conns {
			switch conn.GetState() {
			case connectivity.Ready:
				ready = append(ready, conn)
			case connectivity.Idle:
				conn.Connect()
			}
		}
		if len(ready) == 0 {
			ready = n.conns
		}
		conn := ready[turn%uint32(len(ready))]
		turn++
		return pb.NewWeaviateClient(conn)
	}
}

func (n *nodes) close() error {
	var errs []error
	for _, conn := range n.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
