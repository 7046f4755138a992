// A CSI driver whose disks are folders: it makes CONTROL/volumes/ID, deletes it
// with all that is in it, and mounts nothing, so that the real sidecars (csi-provisioner, csi-attacher, csi-snapshotter)
// have a backend to talk to, and so that a test can make that backend fail.
//
//	csi-driver NAME SOCKET CONTROL [CAPABILITY…]    capabilities: attach, snapshot, clone
//
// CONTROL is a folder. While it holds a file named like a call (DeleteVolume,
// ControllerUnpublishVolume, …) that call fails with the file's text, or hangs
// when the file is empty. Each call is written to CONTROL/calls when it comes
// in: its name, a space, the id it is about.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: csi-driver NAME SOCKET CONTROL [attach] [snapshot] [clone]")
	}
	name, socket, control := os.Args[1], os.Args[2], os.Args[3]
	calls, err := os.OpenFile(filepath.Join(control, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	_ = os.Remove(socket) // left by a driver that was killed
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	faults := &faults{control: control, calls: calls}
	server := grpc.NewServer(grpc.UnaryInterceptor(faults.intercept))
	csi.RegisterIdentityServer(server, &identity{name: name})
	csi.RegisterControllerServer(server, &controller{can: os.Args[4:], volumes: filepath.Join(control, "volumes")})
	log.Fatal(server.Serve(listener))
}

// faults stands between the sidecars and the driver.
type faults struct {
	control string
	mu      sync.Mutex
	calls   *os.File
}

func (f *faults) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	call := path.Base(info.FullMethod)
	f.mu.Lock()
	fmt.Fprintln(f.calls, call, subject(request))
	f.mu.Unlock()

	text, err := os.ReadFile(filepath.Join(f.control, call))
	switch {
	case err != nil:
		return next(ctx, request)
	case len(text) == 0:
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	default:
		return nil, status.Error(codes.Internal, string(text))
	}
}

// subject is what the call is about: a volume, a snapshot, or nothing.
func subject(request any) string {
	switch r := request.(type) {
	case *csi.CreateVolumeRequest:
		return r.Name
	case *csi.CreateSnapshotRequest:
		return r.Name
	case *csi.DeleteSnapshotRequest:
		return r.SnapshotId
	case interface{ GetVolumeId() string }:
		return r.GetVolumeId()
	}
	return "-"
}
