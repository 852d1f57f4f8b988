//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account returns the user as which to run the server if the tests run as root.
func account() (uid, gid uint32, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return uint32(uid), uint32(gid), nil
		}
	}
	return 0, 0, errors.New("pgtest: no user postgres or nobody to run PostgreSQL")
}

func own(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := account()
	if err != nil {
		return err
	}
	return os.Chown(dir, int(uid), int(gid))
}

func asUser(cmd *exec.Cmd) {
	if os.Geteuid() != 0 {
		return
	}
	if uid, gid, err := account(); err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
}
