/* What does a command cost? Runs it N times, its output thrown away, and prints the median
 * of the times and the largest memory: "0.012 s 8.5 MB". */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 101 };

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void become(char **command)
{
    int null = open("/dev/null", O_WRONLY);

    if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
        (void)execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

/* Seconds, or a negative number when the command failed. */
static double run_once(char **command, long *memory_kb)
{
    double begin = now();
    struct rusage usage;
    pid_t child = fork();
    int status;

    if (child == 0)
        become(command);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return -1;
    if (usage.ru_maxrss > *memory_kb)
        *memory_kb = usage.ru_maxrss;
    return now() - begin;
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
    long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    double seconds[RUNS_MAX];
    long memory_kb = 0;

    if (runs < 1 || runs > RUNS_MAX) {
        (void)fprintf(stderr, "usage: measure RUNS COMMAND...\n");
        return 2;
    }
    for (long i = 0; i < runs; i++) {
        seconds[i] = run_once(argv + 2, &memory_kb);
        if (seconds[i] < 0) {
            (void)fprintf(stderr, "measure: %s failed\n", argv[2]);
            return 1;
        }
    }
    qsort(seconds, (size_t)runs, sizeof(*seconds), compare);
    printf("%.4f s %.1f MB\n", seconds[runs / 2], (double)memory_kb / 1e3);
    return 0;
}
