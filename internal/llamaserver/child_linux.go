package llamaserver

import "syscall"

// childAttr puts the child in a process group of its own, so that Ctrl-C reaches it only once the
// mesh has drained, and has the kernel end it with its parent, even when the parent is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
