/* A task that shares memory and thread-local storage with its maker. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static volatile long counts[2];

static int leaf(int x)
{
    return x + 1;
}

static long spin(int which)
{
    for (int i = 0; i < 200000; i++)
        counts[which] += leaf(0);
    return counts[which];
}

static int run(void *arg)
{
    (void)arg;
    return spin(1) == 200000 ? 6 : 1;
}

int main(void)
{
    char *stack = malloc(256 << 10);
    int status = 0,
        pid = clone(run, stack + (256 << 10), CLONE_VM | CLONE_FS | SIGCHLD, NULL);

    spin(0);
    waitpid(pid, &status, 0);
    printf("%ld %ld %d\n", counts[0], counts[1], WEXITSTATUS(status));
    return 0;
}
