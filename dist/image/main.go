// Makes the OCI image of the exporter from archives of a release, without a container runtime. scripts/image runs it:
//
//	image VERSION PASSWD OUT ARCHIVE...
//
// OUT is a tar of an OCI image layout: one index with an image for each archive. The same archives give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// The time of a build must not be in the image. The archives have the same time.
var when = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

const program = "kubectl-finalizers"

// What the image needs of an archive. The licences go wherever the program goes.
var taken = map[string]string{
	program:                program,
	"LICENSE":              "licenses/LICENSE",
	"THIRD-PARTY-LICENSES": "licenses/THIRD-PARTY-LICENSES",
}

func main() {
	words := os.Args[1:]
	if len(words) < 4 {
		fmt.Fprintln(os.Stderr, "usage: image VERSION PASSWD OUT ARCHIVE...")
		os.Exit(2)
	}
	if err := assemble(words[0], words[1], words[2], words[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func assemble(version, passwd, out string, archives []string) error {
	users, err := os.ReadFile(passwd)
	if err != nil {
		return err
	}
	labels := map[string]string{
		"org.opencontainers.image.title":       "kubectl-finalizers exporter",
		"org.opencontainers.image.description": "Metrics about Kubernetes objects that are stuck in Terminating",
		"org.opencontainers.image.source":      "https://github.com/kubectl-finalizers/kubectl-finalizers",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     version,
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	seen := map[string]bool{}
	for _, archive := range archives {
		files, err := filesOf(archive)
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		architecture, err := architectureOf(files[program])
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		if seen[architecture] {
			return fmt.Errorf("%s: another archive is for %s, too", archive, architecture)
		}
		seen[architecture] = true
		files["etc/passwd"] = users
		image, err := imageOf(files, architecture, labels)
		if err != nil {
			return err
		}
		platform := v1.Platform{OS: "linux", Architecture: architecture}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return write(mutate.Annotations(index, labels).(v1.ImageIndex), out)
}

// The files that the image takes from an archive, by their paths in the image.
func filesOf(archive string) (map[string][]byte, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for entries := tar.NewReader(unpacked); ; {
		entry, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if path, ok := taken[entry.Name]; ok {
			if files[path], err = io.ReadAll(entries); err != nil {
				return nil, err
			}
		}
	}
	for name, path := range taken {
		if files[path] == nil {
			return nil, fmt.Errorf("it has no %s", name)
		}
	}
	return files, nil
}

// An image without a system has no loader and no libraries.
func architectureOf(program []byte) (string, error) {
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return "", fmt.Errorf("its program is not for Linux: %w", err)
	}
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return "", errors.New("its program needs libraries of a system; take the archive for musl")
		}
	}
	switch file.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	}
	return "", fmt.Errorf("its program is for %s, which is not known here", file.Machine)
}

func imageOf(files map[string][]byte, architecture string, labels map[string]string) (v1.Image, error) {
	content, err := packed(files)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	history := v1.History{Created: v1.Time{Time: when}, CreatedBy: "scripts/image"}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: history})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, v1.Time{Time: when}
	// deploy/exporter/Dockerfile says the same.
	config.Config = v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/" + program},
		Cmd:          []string{"exporter", "--listen", "0.0.0.0:9836"},
		ExposedPorts: map[string]struct{}{"9836/tcp": {}},
		Labels:       labels,
	}
	return mutate.ConfigFile(image, config)
}

// The layer. Everything is root's, and nobody may write.
func packed(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	pack := tar.NewWriter(&out)
	for _, path := range []string{"etc/", "etc/passwd", program, "licenses/", "licenses/LICENSE", "licenses/THIRD-PARTY-LICENSES"} {
		header := tar.Header{Name: path, Mode: 0o444, Size: int64(len(files[path])), ModTime: when, Format: tar.FormatUSTAR}
		if path == program {
			header.Mode = 0o555
		}
		if files[path] == nil {
			header.Typeflag, header.Mode = tar.TypeDir, 0o755
		}
		if err := pack.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := pack.Write(files[path]); err != nil {
			return nil, err
		}
	}
	// Its end is written here, so the bytes are taken after it.
	if err := pack.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Writes the layout, validates what is there, and packs it into one file.
func write(index v1.ImageIndex, out string) error {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index); err != nil {
		return err
	}
	written, err := path.ImageIndex()
	if err != nil {
		return err
	}
	if err := validate.Index(written); err != nil {
		return err
	}
	var all bytes.Buffer
	pack := tar.NewWriter(&all)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		bytes, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		header := tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(bytes)), ModTime: when, Format: tar.FormatUSTAR}
		if err := pack.WriteHeader(&header); err != nil {
			return err
		}
		_, err = pack.Write(bytes)
		return err
	})
	if err != nil {
		return err
	}
	if err := pack.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, all.Bytes(), 0o644)
}
