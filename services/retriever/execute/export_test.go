package execute

// Properties returns the properties that a node of the scratch graph has if its value is compared.
func Properties(name string) map[string]any {
	v := parseValue(name)
	properties := map[string]any{}
	for _, p := range nodeProperties(name, &v) {
		properties[p.Key] = p.Value
	}
	return properties
}

// FormatNumber is how a value is printed.
func FormatNumber(v float64) string { return formatNumber(v, exactDigits) }
