package main

import (
	"path/filepath"
	"strings"

	"github.com/triplemesh/triplemesh/deploy/bill"
)

// bill is what an image is made of, as SPDX: the Go modules that the program
// says it was linked from, the console's packages where it serves one, the files
// that come along, and the libraries of the machine that built it.
func (i image) bill(src source, program string, libraries []string) ([]byte, error) {
	parts, err := bill.Modules(program)
	if err != nil {
		return nil, err
	}
	if i.console {
		packages, err := bill.Console(src.root)
		if err != nil {
			return nil, err
		}
		parts = append(parts, packages...)
	}
	for _, f := range i.files {
		p, err := bill.Part{Name: f.name, Version: f.version, Licence: f.licence, Source: f.source}.Sum(filepath.Join(src.root, f.from))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	for _, lib := range libraries {
		name := filepath.Base(lib)
		p, err := bill.Part{Name: name, Licence: systemLicence(name)}.Sum(lib)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return bill.Bill{Name: i.name, Version: src.version, Parts: parts}.JSON()
}

// systemLicence is that of a library of the system, empty where it is not known.
func systemLicence(name string) string {
	for prefix, id := range map[string]string{
		"ld-linux": "LGPL-2.1-or-later", "libc.so": "LGPL-2.1-or-later", "libm.so": "LGPL-2.1-or-later",
		"libdl.so": "LGPL-2.1-or-later", "libpthread.so": "LGPL-2.1-or-later", "librt.so": "LGPL-2.1-or-later",
		"libresolv.so": "LGPL-2.1-or-later", "libgcc_s.so": gccException, "libstdc++.so": gccException,
	} {
		if strings.HasPrefix(name, prefix) {
			return id
		}
	}
	return ""
}

const gccException = "GPL-3.0-or-later WITH GCC-exception-3.1"
