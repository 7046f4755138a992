//go:build ignore

// Writes list.hex: the page that protobuf.rs compares the fake with, encoded by Kubernetes' own code.
// Run it in any module that requires k8s.io/apimachinery:
//
//	go run PATH/TO/tests/fake/golden/main.go > PATH/TO/tests/fake/golden/list.hex
package main

import (
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

func main() {
	at := func(text string) metav1.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		check(err)
		return metav1.NewTime(parsed)
	}
	deleted, written := at("2026-01-01T00:00:30Z"), at("2025-01-01T00:00:00Z")
	grace, remaining, blocks := int64(30), int64(41), true
	list := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		ListMeta: metav1.ListMeta{ResourceVersion: "1000", Continue: "2+2/|&==", RemainingItemCount: &remaining},
		Items: []metav1.PartialObjectMetadata{
			{ObjectMeta: metav1.ObjectMeta{
				Name: "web-1", Namespace: "db", UID: "00000000-0000-0000-0000-000000000001", ResourceVersion: "100",
				CreationTimestamp: at("2025-01-01T00:00:00Z"), DeletionTimestamp: &deleted,
				DeletionGracePeriodSeconds: &grace,
				Labels:                     map[string]string{"app": "web", "tier": "front"},
				Annotations:                map[string]string{"note": "ä\x1b"},
				OwnerReferences: []metav1.OwnerReference{
					{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "1-2-3", BlockOwnerDeletion: &blocks},
				},
				Finalizers: []string{"a/b", "c/d"},
				ManagedFields: []metav1.ManagedFieldsEntry{
					{Manager: "kubectl", Operation: "Update", APIVersion: "v1", Time: &written, FieldsType: "FieldsV1",
						FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`), Subresource: "status"},
				},
			}},
			{ObjectMeta: metav1.ObjectMeta{
				Name: "plain", UID: "2", ResourceVersion: "100", CreationTimestamp: at("2025-01-01T00:00:00Z"),
			}},
		},
	}
	scheme := runtime.NewScheme()
	err := protobuf.NewSerializer(scheme, scheme).Encode(list, hexWriter{})
	check(err)
	fmt.Println()
}

type hexWriter struct{}

func (hexWriter) Write(bytes []byte) (int, error) {
	fmt.Printf("%x", bytes)
	return len(bytes), nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
