package kubernetes

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// service is what a target names.
type service struct {
	name, namespace string
	port            string // the pods' port, a number or its name in the Service
}

// parseTarget reads NAME[.NAMESPACE[.svc[.ZONE]]]:PORT. Without a namespace it
// is the caller's own.
func parseTarget(endpoint, own string) (service, error) {
	wrong := func(why string) (service, error) {
		return service{}, fmt.Errorf("target %q: %s: want kubernetes:///service.namespace:port", endpoint, why)
	}
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return wrong("it names no port")
	}
	name, rest, _ := strings.Cut(host, ".")
	namespace, zone, _ := strings.Cut(rest, ".")
	if namespace == "" {
		namespace = own
	}
	switch {
	case zone != "" && zone != "svc" && !strings.HasPrefix(zone, "svc."):
		return wrong("it is no name of a Service")
	case namespace == "":
		return wrong("it names no namespace, and the pod's own is not known")
	case !isLabel(name) || !isLabel(namespace):
		return wrong("names are letters, digits and hyphens")
	case !isPort(port):
		return wrong("the port is neither a number nor a name")
	}
	return service{name: name, namespace: namespace, port: port}, nil
}

// isLabel tells whether s can name an object: what it is made of goes into a
// URL.
func isLabel(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for _, c := range s {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func isPort(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return n > 0 && n < 1<<16
	}
	return isLabel(s)
}
