/* A program that launches operations of a GPU that is not there: the stand-in's.
 *
 * Usage: launches STEPS [END]; prints the nanoseconds of all kernels. END: fork (a child that ends
 * without GPUs), exit (_exit without a flush), kill (by SIGKILL), threads (each has a stream), slow (a pause before
 * the last step), hidden (a thread of which no function calls the recorder), copies (every tenth step copies 500 MB, for 50 ms),
 * memory (before the steps, 100,000 bytes are allocated and stay, and 80,000 do not). */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "standin.h"

static const struct standin_kernel scale = {"_Z5scalePfi", 7000, 64, 256, 32};
static const struct standin_kernel add = {"_Z3addPfS_i", 5000, 128, 128, 24};

/* Not inlined, so that paths have them. */
#define KEPT __attribute__((noinline))

static volatile int sink;

KEPT static void forward(uint32_t stream)
{
    cuLaunchKernel(&scale, stream);
    cuLaunchKernel(&add, stream);
    sink++;
}

KEPT static void backward(uint32_t stream)
{
    cuLaunchKernel(&add, stream);
    sink++;
}

KEPT static void capture_graph(void)
{
    for (int i = 0; i < 3; i++)
        standin_capture();
    cuGraphInstantiate(3);
    sink++;
}

KEPT static void replay_graph(uint32_t stream)
{
    static const struct standin_kernel *const kernels[] = {&scale, &add, &scale};

    cuGraphLaunch(kernels, 3, stream);
    sink++;
}

/* Every tenth step copies much. */
static uint64_t large_copy;

KEPT static void step(uint32_t stream)
{
    static unsigned count;

    uint64_t buffer = cuMemAlloc(4096);
    cuMemcpyHtoDAsync(large_copy > 0 && ++count % 10 == 0 ? large_copy : 40960, stream);
    forward(stream);
    backward(stream);
    replay_graph(stream);
    cuMemsetD8Async(10240, stream);
    cuMemcpyDtoHAsync(20480, stream);
    cuStreamSynchronize(stream);
    cuMemFree(buffer);
    sink++;
}

/* What stays, a cache that grows once, and a peak that is not that of the steps. */
KEPT static void load_model(void)
{
    (void)cuMemAlloc(100000);
    sink++;
}

KEPT static void warm_up(void)
{
    static const struct standin_properties on_device = {.place = 1};
    uint64_t first = cuMemAlloc(50000), second;

    cuMemCreate(&second, 30000, &on_device);
    cuMemFree(first);
    cuMemRelease(second);
    sink++;
}

KEPT static void *run(void *arg)
{
    int *steps = arg;

    for (int i = 0; i < steps[0]; i++)
        step((uint32_t)steps[1]);
    return NULL;
}

/* Compiled without hooks. */
__attribute__((no_instrument_function)) static void *run_hidden(void *arg)
{
    for (int i = 0; i < 10; i++)
        cuLaunchKernel(&add, 7);
    cuStreamSynchronize(7);
    return arg;
}

static void fork_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        cuLaunchKernel(&scale, 1);
        exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    int steps[4][2] = {{argc > 1 ? atoi(argv[1]) : 1, 1}};
    const char *end = argc > 2 ? argv[2] : "";
    unsigned thread_count = strcmp(end, "threads") == 0 ? 4 : 1;
    pthread_t threads[4];

    large_copy = strcmp(end, "copies") == 0 ? 500000000 : 0;
    cuInit(0);
    capture_graph();
    if (strcmp(end, "memory") == 0) {
        load_model();
        warm_up();
    }
    for (unsigned i = 1; i < thread_count; i++) {
        steps[i][0] = steps[0][0];
        steps[i][1] = (int)i + 1;
        (void)pthread_create(&threads[i], NULL, run, steps[i]);
    }
    run(steps[0]);
    if (strcmp(end, "hidden") == 0) {
        (void)pthread_create(&threads[0], NULL, run_hidden, NULL);
        (void)pthread_join(threads[0], NULL);
    }
    if (strcmp(end, "slow") == 0) {
        (void)usleep(600000);
        step(1);
    }
    for (unsigned i = 1; i < thread_count; i++)
        (void)pthread_join(threads[i], NULL);
    if (strcmp(end, "fork") == 0)
        fork_child();
    printf("%llu\n", (unsigned long long)steps[0][0] * thread_count *
                         (3 * scale.duration_ns + 3 * add.duration_ns));
    (void)fflush(stdout);
    if (strcmp(end, "exit") == 0 || strcmp(end, "kill") == 0) {
        (void)usleep(300000); /* what has ended is delivered */
        if (end[0] == 'k')
            (void)raise(SIGKILL);
        _exit(0);
    }
    return 0;
}
