package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// benchTenant is a tenant that asks.
type benchTenant struct {
	name   string
	weight float64
	// file has its token; empty where nobody is asked who they are, or where the
	// flags for all commands say so.
	file string
}

// parseTenants reads WEIGHT or WEIGHT:FILE; none at all is one tenant.
func parseTenants(texts []string) ([]*benchTenant, error) {
	if len(texts) == 0 {
		return []*benchTenant{{name: "all", weight: 1}}, nil
	}
	var tenants []*benchTenant
	for n, text := range texts {
		number, file, _ := strings.Cut(text, ":")
		weight, err := strconv.ParseFloat(number, 64)
		if err != nil || !(weight > 0 && weight <= 1e6) {
			return nil, fmt.Errorf("--tenant %q: want WEIGHT or WEIGHT:FILE, with a weight above 0", text)
		}
		tenants = append(tenants, &benchTenant{name: fmt.Sprintf("tenant-%d", n+1), weight: weight, file: file})
	}
	return tenants, nil
}
