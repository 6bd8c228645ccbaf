package config

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestWhoAsksGetsAPortThatTheKernelHandsToNobody(t *testing.T) {
	port, err := FreePort("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if port < firstFreePort || port > lastFreePort {
		t.Errorf("got port %d, want one from %d to %d", port, firstFreePort, lastFreePort)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	defer l.Close()
	if err := probePort(port, []string{"127.0.0.1"}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that is taken: got %v, want %v", err, syscall.EADDRINUSE)
	}
}

func TestAHostThatIsNotOfThisMachineIsNamed(t *testing.T) {
	if port, err := FreePort("127.0.0.1", "192.0.2.1"); err == nil || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("got port %d and error %v, want one that names the host", port, err)
	}
}
