package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// indexer joins the images of several machines, each pushed as TAG-ARCHITECTURE, under one tag. The
// retriever's and the command line's images contain C libraries of their architecture, so each
// architecture is built on a machine of its own.
type indexer struct {
	repository, tag string
	architectures   []string
	// key signs the indexes if it is set.
	key     *signingKey
	options []remote.Option
}

func indexImages(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("index", flag.ContinueOnError)
	j := indexer{options: []remote.Option{remote.WithAuthFromKeychain(authn.DefaultKeychain)}}
	flags.StringVar(&j.repository, "repository", "", "registry and path of the images")
	flags.StringVar(&j.tag, "tag", "", "tag of the index; images are read as TAG-ARCHITECTURE")
	architectures := flags.String("architectures", "amd64,arm64", "architectures to join")
	key := flags.String("key", "", "private key that signs the indexes, of cosign (COSIGN_PASSWORD) or in PEM")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if j.repository == "" || j.tag == "" {
		return fmt.Errorf("-repository and -tag are required")
	}
	j.architectures = strings.Split(*architectures, ",")
	if *key != "" {
		k, err := readKey(*key, os.Getenv("COSIGN_PASSWORD"))
		if err != nil {
			return err
		}
		j.key = &k
	}
	for _, i := range images() {
		if i.test || flags.NArg() > 0 && !slices.Contains(flags.Args(), i.name) {
			continue
		}
		if err := j.join(context.Background(), i.name, out); err != nil {
			return fmt.Errorf("%s: %w", i.name, err)
		}
	}
	return nil
}

// join pushes the index of one image, and its signature.
func (j indexer) join(ctx context.Context, image string, out io.Writer) error {
	options := append(slices.Clone(j.options), remote.WithContext(ctx))
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range j.architectures {
		ref, err := name.NewTag(fmt.Sprintf("%s/%s:%s-%s", j.repository, image, j.tag, arch))
		if err != nil {
			return err
		}
		built, err := remote.Image(ref, options...)
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		config, err := built.ConfigFile()
		if err != nil {
			return err
		}
		if config.Architecture != arch {
			return fmt.Errorf("%s is built for %s", ref, config.Architecture)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: built,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: config.OS, Architecture: arch}}})
	}
	ref, err := name.NewTag(j.repository + "/" + image + ":" + j.tag)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(ref, index, options...); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if j.key != nil {
		if err := j.key.signImage(ref, digest, options...); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s  %s\n", ref, digest)
	return err
}

// cosignPayload is the media type of what cosign signs for an image.
const cosignPayload = "application/vnd.dev.cosign.simplesigning.v1+json"

// signImage pushes the signature of an image where `cosign verify --key` looks for it.
func (k signingKey) signImage(ref name.Tag, digest v1.Hash, options ...remote.Option) error {
	payload, err := json.Marshal(map[string]any{
		"critical": map[string]any{
			"identity": map[string]any{"docker-reference": ref.Context().Name()},
			"image":    map[string]any{"docker-manifest-digest": digest.String()},
			"type":     "cosign container image signature",
		},
		"optional": nil,
	})
	if err != nil {
		return err
	}
	signature, err := k.sign(payload)
	if err != nil {
		return err
	}
	signed, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:       static.NewLayer(payload, cosignPayload),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": signature},
	})
	if err != nil {
		return err
	}
	at := ref.Context().Tag(strings.Replace(digest.String(), ":", "-", 1) + ".sig")
	if err := remote.Write(at, signed, options...); err != nil {
		return fmt.Errorf("push the signature: %w", err)
	}
	return nil
}
