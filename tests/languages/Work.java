import java.lang.management.*;
import java.util.*;

/* java Work ROUNDS: two threads that run four parts in turn: recursion, inlined code, a map, sorting. Prints which share of their
 * processor time each has taken. */
public class Work {
    static final String[] NAMES = {"fib", "hash", "count", "sort"};
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    static int mix(int a, int b) { return a * 31 + (b ^ (a >>> 7)); }

    static int hash(int n) {
        int h = 1;
        for (int i = 0; i < n; i++)
            h = mix(h, i);
        return h;
    }

    static long count(int n) {
        Map<String, Integer> words = new TreeMap<>();
        for (int i = 0; i < n; i++)
            words.merge("w" + (i * 7919 % 10007), 1, Integer::sum);
        return words.size();
    }

    static long sort(int n) {
        Integer[] numbers = new Integer[n];
        Random random = new Random(1);
        for (int i = 0; i < n; i++)
            numbers[i] = random.nextInt();
        Arrays.sort(numbers, Comparator.reverseOrder());
        return numbers[0];
    }

    static void work(int rounds, long[] times) {
        long now = THREADS.getCurrentThreadCpuTime();
        while (rounds-- > 0) {
            for (int i = 0; i < times.length; i++) {
                sink += i == 0 ? fib(25) : i == 1 ? hash(400000) : i == 2 ? count(2000) : sort(3000);
                long next = THREADS.getCurrentThreadCpuTime();
                times[i] += next - now;
                now = next;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        long[][] times = new long[2][NAMES.length];
        Thread[] threads = new Thread[times.length];
        for (int i = 0; i < threads.length; i++) {
            long[] own = times[i];
            Runnable task = () -> work(rounds, own);
            threads[i] = new Thread(task, "worker " + i);
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        long all = 0;
        for (long[] own : times)
            for (long time : own)
                all += time;
        for (int i = 0; i < NAMES.length; i++)
            System.out.printf(Locale.ROOT, "%s %.2f%n", NAMES[i], 100.0 * (times[0][i] + times[1][i]) / all);
    }
}
