// work ROUNDS [FILE]: two goroutines, each with a thread of its own, run four parts in turn. Prints which share of their processor time each
// has taken. FILE gets the profile of runtime/pprof.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func mix(a, b uint32) uint32 { return a*31 + (b ^ a>>7) }

//go:noinline
func hash(n int) int {
	h := uint32(1)
	for i := 0; i < n; i++ {
		h = mix(h, uint32(i))
	}
	return int(h)
}

//go:noinline
func count(n int) int {
	words := map[string]int{}
	for i := 0; i < n; i++ {
		words["w"+strconv.Itoa(i*7919%10007)]++
	}
	return len(words)
}

//go:noinline
func order(n int) int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = int(uint32(i) * 0x9e3779b1)
	}
	sort.Slice(numbers, func(a, b int) bool { return numbers[a] < numbers[b] })
	return numbers[0]
}

type part struct {
	name string
	run  func(int) int
	size int
	time time.Duration
}

// The processor time of this thread.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&now)), 0)
	return time.Duration(now.Nano())
}

func work(rounds int, parts []part) int {
	runtime.LockOSThread()
	sum := 0
	now := threadTime()
	for ; rounds > 0; rounds-- {
		for i := range parts {
			sum += parts[i].run(parts[i].size)
			next := threadTime()
			parts[i].time += next - now
			now = next
		}
	}
	return sum
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	if len(os.Args) > 2 {
		file, err := os.Create(os.Args[2])
		if err == nil && pprof.StartCPUProfile(file) == nil {
			defer pprof.StopCPUProfile()
		}
	}
	done := make(chan []part)
	for g := 0; g < 2; g++ {
		go func() {
			parts := []part{{"fib", fib, 24, 0}, {"hash", hash, 400000, 0}, {"count", count, 3000, 0}, {"order", order, 8000, 0}}
			work(rounds, parts)
			done <- parts
		}()
	}
	all := time.Duration(0)
	times := map[string]time.Duration{}
	for g := 0; g < 2; g++ {
		for _, p := range <-done {
			times[p.name] += p.time
			all += p.time
		}
	}
	for name, spent := range times {
		fmt.Printf("%s %.2f\n", name, 100*float64(spent)/float64(all))
	}
}
