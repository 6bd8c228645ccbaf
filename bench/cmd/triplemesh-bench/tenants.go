package main

import (
	"fmt"
	"strconv"
	"strings"
)

// tenant is a tenant that asks.
type tenant struct {
	name   string
	weight float64
	// file has its token; empty where nobody is asked who they are, or where the
	// flags for all commands say so.
	file string
}

// parseTenants reads WEIGHT or WEIGHT:FILE; none at all is one tenant.
func parseTenants(texts []string) ([]*tenant, error) {
	if len(texts) == 0 {
		return []*tenant{{name: "all", weight: 1}}, nil
	}
	var tenants []*tenant
	for n, text := range texts {
		number, file, _ := strings.Cut(text, ":")
		weight, err := strconv.ParseFloat(number, 64)
		if err != nil || !(weight > 0 && weight <= 1e6) {
			return nil, fmt.Errorf("--tenant %q: want WEIGHT or WEIGHT:FILE, with a weight above 0", text)
		}
		tenants = append(tenants, &tenant{name: fmt.Sprintf("tenant-%d", n+1), weight: weight, file: file})
	}
	return tenants, nil
}
