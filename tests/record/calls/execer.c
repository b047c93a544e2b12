/* A child that becomes the program `single`. */
#include <sys/wait.h>
#include <unistd.h>

static int before_exec(int n)
{
    return n;
}

int main(void)
{
    int sum = before_exec(1), status;
    pid_t child = fork();

    if (child == 0) {
        execl("./single", "single", (char *)0);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return sum - 1;
}
