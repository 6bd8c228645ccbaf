// Package bill writes bills of materials (SBOM, SPDX 2.3): what a program or an
// image is made of, under which licences, with checksums.
package bill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// Part is software or data of others.
type Part struct {
	Name, Version string
	// Licence is an SPDX expression; empty where nobody said.
	Licence string
	// Source is where it comes from, a URL; empty where nobody said.
	Source string
	// PURL is what vulnerability scanners know it by; may be empty.
	PURL string
	// SHA256 is the sum of the file that it is, in hexadecimal; may be empty.
	SHA256 string
}

// Bill is what one thing is made of.
type Bill struct {
	// Name and Version are those of the thing itself.
	Name, Version string
	Parts         []Part
}

// unsaid is SPDX's word for what nobody said.
const unsaid = "NOASSERTION"

// JSON is the bill as SPDX. The same parts give the same bytes: the time of
// making is always the epoch.
func (b Bill) JSON() ([]byte, error) {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      "triplemesh-" + b.Name,
		DocumentNamespace: "https://github.com/triplemesh/triplemesh/sbom/" + b.Name + "/" + b.Version,
		CreationInfo: &spdx.CreationInfo{
			Created:  time.Unix(0, 0).UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "triplemesh-bill"}},
		},
	}
	root := Part{Name: "triplemesh-" + b.Name, Version: b.Version, Licence: "Apache-2.0"}
	doc.Packages = []*spdx.Package{root.spdx("root")}
	doc.Relationships = []*spdx.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, "root")}
	for i, p := range b.Parts {
		id := fmt.Sprintf("part-%d", i+1)
		doc.Packages = append(doc.Packages, p.spdx(id))
		doc.Relationships = append(doc.Relationships, relation("root", common.TypeRelationshipContains, id))
	}
	var out bytes.Buffer
	if err := spdxjson.Write(doc, &out, spdxjson.Indent(" "), spdxjson.EscapeHTML(false)); err != nil {
		return nil, fmt.Errorf("bill of %s: %w", b.Name, err)
	}
	return out.Bytes(), nil
}

func relation(from, kind, to string) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", from), Relationship: kind, RefB: common.MakeDocElementID("", to)}
}

func (p Part) spdx(id string) *spdx.Package {
	out := &spdx.Package{
		PackageName: p.Name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: p.Version,
		PackageDownloadLocation: said(p.Source), PackageLicenseDeclared: said(p.Licence),
		PackageLicenseConcluded: unsaid, PackageCopyrightText: unsaid,
	}
	if p.SHA256 != "" {
		out.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: p.SHA256}}
	}
	if p.PURL != "" {
		out.PackageExternalReferences = []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: p.PURL,
		}}
	}
	return out
}

func said(text string) string {
	if text == "" {
		return unsaid
	}
	return text
}

// Sum is the part with the checksum of a file.
func (p Part) Sum(file string) (Part, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return p, fmt.Errorf("bill of materials: %w", err)
	}
	sum := sha256.Sum256(data)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p, nil
}
