package main

func mix(x uint64) uint64 {
	return x*6364136223846793005 + 1442695040888963407
}

//go:noinline
func hash(n uint64) uint64 {
	sum := uint64(0)
	for i := uint64(0); i < n; i++ {
		sum ^= mix(sum + i)
	}
	return sum
}

type tree struct {
	left, right *tree
}

// The run-time helps to collect garbage on the stack of the thread.
//
//go:noinline
func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

//go:noinline
func collect(n uint64) uint64 {
	kept := grow(16)
	for i := uint64(0); i < n; i++ {
		kept.left = grow(15)
	}
	return n
}

func main() {
	sums := make(chan uint64)
	done := make(chan uint64)
	go func() { done <- collect(40) }()
	for g := 0; g < 2; g++ {
		go func() {
			sums <- hash(70000000)
		}()
	}
	println(<-sums == <-sums, <-done)
}
