/* fork, vfork, exec, posix_spawn, _exit, abort in children. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int work(int n)
{
    return n < 2 ? n : work(n - 1) + work(n - 2);
}

static int status_of(pid_t pid)
{
    int status = 0;

    waitpid(pid, &status, 0);
    return status;
}

static int in_child(int how)
{
    pid_t pid = how == 3 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

    if (pid == 0) {
        int n = work(15);

        if (how == 0)
            exit(n & 127);
        if (how == 1)
            _exit(5);
        if (how == 2)
            abort();
        _exit(n & 31);
    }
    return status_of(pid);
}

int main(int argc, char **argv)
{
    char *words[] = {argv[0], (char *)"child", NULL};
    pid_t pid;

    if (argc > 1) {
        printf("child %d\n", work(10));
        return 9;
    }
    for (int how = 0; how < 4; how++)
        printf("%x\n", (unsigned)in_child(how) & 0xff7f);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        work(5);
        execv(argv[0], words);
        _exit(1);
    }
    printf("%x\n", (unsigned)status_of(pid));
    fflush(stdout);
    pid = vfork();
    if (pid == 0) {
        execv(argv[0], words);
        _exit(1);
    }
    printf("%x %d\n", (unsigned)status_of(pid), work(7));
    fflush(stdout);
    if (posix_spawn(&pid, argv[0], NULL, NULL, words, environ) == 0)
        printf("%x\n", (unsigned)status_of(pid));
    work(3);
    fflush(stdout);
    signal(SIGPROF, SIG_IGN); /* the timer of -pg survives exec */
    execv(argv[0], words);
    return 1;
}
