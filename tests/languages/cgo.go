// cgo ROUNDS: Go calls C, which calls Go again. Two goroutines, one for each way.
package main

/*
extern int inGo(int);

static unsigned spinInC(int n)
{
	volatile unsigned x = 0;

	for (int i = 0; i < n; i++)
		x += i * i;
	return x;
}

static int callGo(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += inGo(i);
	return sum;
}
*/
import "C"

import (
	"os"
	"strconv"
	"sync"
)

//export inGo
func inGo(n C.int) C.int { return C.int(spin(int(n))) }

//go:noinline
func spin(n int) int {
	for i := 0; i < 100000; i++ {
		n += i * n
	}
	return n
}

//go:noinline
func down() { C.spinInC(400000) }

//go:noinline
func up() { C.callGo(4) }

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	var done sync.WaitGroup
	for _, run := range []func(){down, up} {
		run := run
		done.Add(1)
		go func() {
			for i := 0; i < rounds; i++ {
				run()
			}
			done.Done()
		}()
	}
	done.Wait()
}
