// The reaper runs the programs of one test cluster and ends them, whatever
// happens to the test that asked for them.
//
// Rust destructors do not run when a test process aborts or is killed with
// SIGKILL, and a static is never dropped at all. But the kernel always closes
// the pipe that the test process holds. So the test process does not start
// etcd or kube-apiserver itself: it starts one reaper, tells it on stdin what
// to run, and when stdin ends the reaper kills everything, removes its
// directory and goes.
//
// One JSON object a line, both ways:
//
//	in   {"run":"etcd","argv":["/…/etcd","--name=a"],"env":["K=V"],"dir":"/…","log":"/…/etcd.log"}
//	out  {"directory":"/tmp/…"}                       once, first
//	out  {"started":"etcd","pid":12}                  or {"failed":"etcd","why":"…"}
//	out  {"exited":"etcd","why":"signal: killed"}
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

type order struct {
	Run  string   `json:"run"`
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	Log  string   `json:"log"`
}

type event struct {
	Directory string `json:"directory,omitempty"`
	Started   string `json:"started,omitempty"`
	Pid       int    `json:"pid,omitempty"`
	Failed    string `json:"failed,omitempty"`
	Exited    string `json:"exited,omitempty"`
	Why       string `json:"why,omitempty"`
}

type reaper struct {
	mu      sync.Mutex
	running map[string]int // name → pid, which is also its process group
	gone    sync.WaitGroup
}

func main() {
	// A parent-death signal is sent when the *thread* that started the child
	// ends; the main thread never does.
	runtime.LockOSThread()
	// Ctrl-C reaches the whole terminal. Notify, not Ignore: an ignored signal
	// would stay ignored in the children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)

	directory, err := os.MkdirTemp(os.Getenv("REAPER_PARENT"), "finalizers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "reaper:", err)
		os.Exit(1)
	}
	say(event{Directory: directory})

	r := &reaper{running: map[string]int{}}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var o order
		if err := json.Unmarshal(line, &o); err != nil {
			fmt.Fprintln(os.Stderr, "reaper:", err)
			break
		}
		r.run(o)
	}

	r.killAll()
	r.gone.Wait()
	// A grandchild may still write a last file while the folder is emptied.
	for i := 0; i < 20 && os.RemoveAll(directory) != nil; i++ {
		time.Sleep(50 * time.Millisecond)
	}
}

func (r *reaper) run(o order) {
	if err := r.start(o); err != nil {
		say(event{Failed: o.Run, Why: err.Error()})
	}
}

func (r *reaper) start(o order) error {
	log, err := os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.Dir, log, log
	cmd.SysProcAttr = ownGroup()

	r.mu.Lock()
	defer r.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	r.running[o.Run] = pid
	r.gone.Add(1)
	say(event{Started: o.Run, Pid: pid}) // before it can be said to have exited
	go func() {
		defer r.gone.Done()
		// Wait's own error is the exit status, which ProcessState says better.
		_ = cmd.Wait()
		r.mu.Lock()
		delete(r.running, o.Run)
		r.mu.Unlock()
		say(event{Exited: o.Run, Why: cmd.ProcessState.String()})
	}()
	return nil
}

// killAll reaches whole groups, also those that are stopped.
func (r *reaper) killAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pid := range r.running {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

var stdout sync.Mutex

// say may fail because nobody reads any more; then stdin ends soon as well.
func say(e event) {
	stdout.Lock()
	defer stdout.Unlock()
	_ = json.NewEncoder(os.Stdout).Encode(e)
}
