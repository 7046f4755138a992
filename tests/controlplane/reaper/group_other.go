//go:build !linux

package main

import "syscall"

// ownGroup lets one signal reach a program and all it starts. Only Linux also
// knows a signal for the death of the parent.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
