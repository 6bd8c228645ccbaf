package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// bill is what an image is made of, as SPDX 2.3: the Go modules that the
// program says it was linked from, the files that come along, and the
// libraries of the machine that built it.
func (i image) bill(src source, program string, libraries []string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	doc := newDocument(i.name, src)
	doc.add(pkg{Name: "stdlib", Version: info.GoVersion, Licence: "BSD-3-Clause"}.golang())
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
			// Modules of this repository are of the image's own version.
			if dep.Version == "" {
				continue
			}
		}
		doc.add(pkg{Name: dep.Path, Version: dep.Version}.golang())
	}
	for _, f := range i.files {
		p := pkg{Name: f.name, Version: f.version, Licence: f.licence, Location: f.source}
		if err := p.sum(filepath.Join(src.root, f.from)); err != nil {
			return nil, err
		}
		doc.add(p)
	}
	for _, lib := range libraries {
		p := pkg{Name: filepath.Base(lib)}
		if err := p.sum(lib); err != nil {
			return nil, err
		}
		doc.add(p)
	}
	return json.MarshalIndent(doc, "", " ")
}

type document struct {
	Version       string         `json:"spdxVersion"`
	Licence       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []pkg          `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// pkg is a package as SPDX has it.
type pkg struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Version   string     `json:"versionInfo,omitempty"`
	Location  string     `json:"downloadLocation"`
	Licence   string     `json:"licenseDeclared"`
	Analysed  bool       `json:"filesAnalyzed"`
	Checksums []checksum `json:"checksums,omitempty"`
	Refs      []ref      `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

const (
	unsaid = "NOASSERTION"
	rootID = "SPDXRef-image"
)

func newDocument(name string, src source) *document {
	return &document{
		Version: "SPDX-2.3", Licence: "CC0-1.0", ID: "SPDXRef-DOCUMENT",
		Name:      "triplemesh-" + name,
		Namespace: "https://github.com/triplemesh/triplemesh/sbom/" + name + "/" + src.version,
		Creation:  creation{Created: epoch.Format(time.RFC3339), Creators: []string{"Tool: triplemesh-images"}},
		Packages: []pkg{{
			ID: rootID, Name: "triplemesh-" + name, Version: src.version, Location: unsaid, Licence: "Apache-2.0",
		}},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", rootID}},
	}
}

func (d *document) add(p pkg) {
	p.ID = fmt.Sprintf("SPDXRef-package-%d", len(d.Packages))
	if p.Location == "" {
		p.Location = unsaid
	}
	if p.Licence == "" {
		p.Licence = unsaid
	}
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, relationship{rootID, "CONTAINS", p.ID})
}

// golang names the module as vulnerability scanners look it up.
func (p pkg) golang() pkg {
	p.Refs = []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + p.Name + "@" + p.Version}}
	return p
}

func (p *pkg) sum(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("bill of materials: %w", err)
	}
	sum := sha256.Sum256(data)
	p.Checksums = []checksum{{"SHA256", hex.EncodeToString(sum[:])}}
	return nil
}
