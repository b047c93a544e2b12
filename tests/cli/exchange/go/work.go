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

func main() {
	sums := make(chan uint64)
	for g := 0; g < 2; g++ {
		go func() {
			sums <- hash(70000000)
		}()
	}
	println(<-sums == <-sums)
}
