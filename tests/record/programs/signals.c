/* Signal handlers that make recorded calls, with and without their own stack, and one
 * that jumps out. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile long handled, jumps;
static sigjmp_buf landing;
static volatile int may_jump;

static int deeper(int n)
{
    return n == 0 ? 1 : deeper(n - 1) + 1;
}

static void on_alarm(int number)
{
    (void)number;
    handled += deeper(20) == 21;
    if (may_jump && handled % 10 == 0)
        siglongjmp(landing, 1);
}

static int leaf(int x)
{
    return x + 1;
}

static long spin(long rounds)
{
    long sum = 0;

    for (long i = 0; i < rounds; i++)
        sum += leaf((int)i & 7);
    return sum;
}

static void set_timer(long us)
{
    struct itimerval timer = {{0, us}, {0, us}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static void run(int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_alarm;
    action.sa_flags = flags;
    sigaction(SIGALRM, &action, NULL);
    handled = 0;
    set_timer(200);
    while (handled < 300)
        if (spin(1000) != 4500)
            printf("wrong sum\n");
    set_timer(0);
}

int main(void)
{
    stack_t stack = {0};

    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);
    run(0);
    sigaltstack(&stack, NULL);
    run(SA_ONSTACK);
    handled = 0;
    while (jumps < 50) {
        if (sigsetjmp(landing, 1) != 0) {
            jumps++;
        } else if (!may_jump) {
            may_jump = 1;
            set_timer(200);
        }
        spin(1000);
    }
    set_timer(0);
    printf("%d\n", deeper(5));
    return 0;
}
