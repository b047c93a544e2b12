<?php // php work.php ROUNDS: runs five parts in turn: recursion, a loop, an array, sorting, a generator. Prints which share of the time
// each has taken, as its own clock measures it.
class Work
{
    public function fib(int $n): int
    {
        return $n < 2 ? $n : $this->fib($n - 1) + $this->fib($n - 2);
    }

    public function hash(int $n): int
    {
        $h = 1;
        for ($i = 0; $i < $n; $i++)
            $h = ($h * 31 + ($i ^ $h)) & 0xffffff;
        return $h;
    }

    public function count(int $n): int
    {
        $words = [];
        for ($i = 0; $i < $n; $i++) {
            $word = 'w' . ($i * 7919 % 10007);
            $words[$word] = ($words[$word] ?? 0) + 1;
        }
        return count($words);
    }

    public static function compare(int $a, int $b): int
    {
        return $a <=> $b;
    }

    public function sort(int $n): int
    {
        $numbers = [];
        for ($i = 0; $i < $n; $i++)
            $numbers[] = $i * 40503 & 0xffff;
        usort($numbers, 'Work::compare');
        return $numbers[0];
    }

    public function each(int $n)
    {
        for ($i = 0; $i < $n; $i++)
            yield strlen("word $i and " . $i * 3);
    }

    public function text(int $n): int
    {
        $sum = 0;
        foreach ($this->each($n) as $length)
            $sum += $length;
        return $sum + array_sum(array_map(fn($i) => strlen("w$i"), range(1, $n)));
    }
}

function work(int $rounds): void
{
    $sizes = ['fib' => 24, 'hash' => 300000, 'count' => 60000, 'sort' => 12000, 'text' => 40000];
    $times = array_fill_keys(array_keys($sizes), 0);
    $worker = new Work();
    $now = hrtime(true);
    while ($rounds-- > 0)
        foreach ($sizes as $part => $size) {
            $worker->$part($size);
            $next = hrtime(true);
            $times[$part] += $next - $now;
            $now = $next;
        }
    foreach ($times as $part => $time)
        printf("%s %.2f\n", $part, 100 * $time / array_sum($times));
}

work((int)$argv[1]);
