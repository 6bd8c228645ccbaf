//go:build !linux

package llamaserver

import "syscall"

// childAttr puts the child in a process group of its own. Only Linux can end
// it when the parent is killed with no chance to say goodbye.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
