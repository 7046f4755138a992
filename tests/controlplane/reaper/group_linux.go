package main

import "syscall"

// ownGroup lets one signal reach a program and all it starts. Should the reaper
// itself be killed, the kernel kills the program.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
