/* Children that share memory with their parent and make calls: vfork(), clone() with
 * CLONE_VFORK, posix_spawn() with file actions; and exec in a thread. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_LEN = 256 << 10, ROUNDS = 100 };

extern char **environ;

static char *name;

__attribute__((noinline)) static int work(int n)
{
    return n < 2 ? n : work(n - 1) + work(n - 2);
}

static int status_of(pid_t pid)
{
    int status = -1;

    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* The child makes calls, and returns to more and less depth than it began with. */
__attribute__((noinline)) static int by_vfork(int depth, int how)
{
    pid_t pid;

    if (depth > 0)
        return by_vfork(depth - 1, how) + work(2);
    pid = vfork();
    if (pid == 0) {
        int result = work(9);

        if (how == 1) {
            execl(name, name, "child", (char *)NULL);
            _exit(1);
        }
        if (how == 2)
            raise(SIGKILL);
        _exit(result);
    }
    return status_of(pid) + work(6);
}

static int run_clone(void *arg)
{
    return work(*(int *)arg);
}

__attribute__((noinline)) static int by_clone(void)
{
    char *stack = malloc(STACK_LEN);
    int n = 10;
    pid_t pid = clone(run_clone, stack + STACK_LEN, CLONE_VM | CLONE_VFORK | SIGCHLD, &n);
    int status = status_of(pid);

    free(stack);
    return status + work(5);
}

__attribute__((noinline)) static int by_spawn(void)
{
    char *words[] = {name, (char *)"quiet", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, name, &actions, NULL, words, environ) != 0)
        return -1;
    posix_spawn_file_actions_destroy(&actions);
    return status_of(pid);
}

static void *wait_for_end(void *arg)
{
    for (;;)
        work(5);
    return arg;
}

static void *replace(void *arg)
{
    work(8);
    signal(SIGPROF, SIG_IGN); /* the timer of -pg survives exec */
    execl(name, name, "last", (char *)NULL);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    long sum = 0;

    name = argv[0];
    if (argc > 1) {
        printf("%s %d\n", argv[1], work(10));
        return 40 + (int)strlen(argv[1]);
    }
    for (int i = 0; i < ROUNDS; i++)
        sum += by_vfork(i % 5, 0) + by_clone();
    printf("%ld %d %d %d\n", sum, by_vfork(3, 2), by_spawn(), work(7));
    fflush(stdout);
    printf("%d\n", by_vfork(3, 1));
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_for_end, NULL);
    pthread_create(&threads[2], NULL, replace, NULL);
    pthread_join(threads[2], NULL);
    return 1;
}
