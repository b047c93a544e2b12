/* A child that works and exits. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int child_work(int n)
{
    return n + 1;
}

static int parent_work(int n)
{
    return n + 2;
}

int main(void)
{
    pid_t child = fork();
    int sum, status;

    if (child == 0)
        exit(child_work(1) - 2);
    sum = parent_work(3);
    waitpid(child, &status, 0);
    return status + sum - 5;
}
