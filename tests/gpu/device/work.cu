/* A program with work for a GPU, to be recorded where there is one.
 *
 * Usage: work MODE [ROUNDS]; prints how many operations of each kind it launched. MODE: streams (two of
 * them), graph (captured once, replayed), copies, managed (memory that migrates), long (kernels of
 * 200 us), processes (two, each with its own context), exit (_exit without an end). */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t result_ = (call);                                                    \
        if (result_ != cudaSuccess) {                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result_));             \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

enum { LEN = 1 << 20, BYTES = LEN * (int)sizeof(float) };

__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= 1.0001f;
}

__global__ void spin(float *x, long long cycles)
{
    long long begin = clock64();

    while (clock64() - begin < cycles)
        continue;
    x[0] += 1;
}

static int kernels, copies, sets, syncs;

__attribute__((noinline)) static void launch(float *x, cudaStream_t stream)
{
    scale<<<LEN / 256, 256, 0, stream>>>(x, LEN);
    kernels++;
}

__attribute__((noinline)) static void wait_for(cudaStream_t stream)
{
    CHECK(cudaStreamSynchronize(stream));
    syncs++;
}

static void run_streams(float *x, int rounds)
{
    cudaStream_t streams[2];

    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamCreate(&streams[i]));
    for (int i = 0; i < rounds; i++) {
        launch(x, streams[0]);
        launch(x, streams[1]);
    }
    wait_for(streams[0]);
    wait_for(streams[1]);
}

static void run_graph(float *x, int rounds)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 5; i++)
        scale<<<LEN / 256, 256, 0, stream>>>(x, LEN);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < rounds; i++) {
        CHECK(cudaGraphLaunch(exec, stream));
        kernels += 5;
    }
    wait_for(stream);
}

static void run_copies(float *x, int rounds)
{
    float *host;

    CHECK(cudaMallocHost(&host, BYTES));
    memset(host, 0, BYTES);
    for (int i = 0; i < rounds; i++) {
        CHECK(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, 0));
        CHECK(cudaMemsetAsync(x, 0, BYTES, 0));
        launch(x, 0);
        CHECK(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, 0));
        copies += 2;
        sets++;
    }
    wait_for(0);
}

static void run_managed(int rounds)
{
    float *x;

    CHECK(cudaMallocManaged(&x, BYTES));
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < LEN; k += 1024)
            x[k] += 1;
        launch(x, 0);
        wait_for(0);
    }
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void run_long(float *x, int rounds)
{
    spin<<<1, 1>>>(x, 350000);
    CHECK(cudaDeviceSynchronize());
    double begin_ms = now_ms();

    for (int i = 0; i < rounds; i++) {
        spin<<<1, 1>>>(x, 350000);
        kernels++;
    }
    CHECK(cudaDeviceSynchronize());
    syncs++;
    printf("%.3f us a kernel\n", (now_ms() - begin_ms) * 1e3 / rounds);
}

static int run(const char *mode, int rounds)
{
    float *x;

    CHECK(cudaMalloc(&x, BYTES));
    if (strcmp(mode, "streams") == 0 || strcmp(mode, "processes") == 0)
        run_streams(x, rounds);
    else if (strcmp(mode, "graph") == 0)
        run_graph(x, rounds);
    else if (strcmp(mode, "managed") == 0)
        run_managed(rounds);
    else if (strcmp(mode, "long") == 0)
        run_long(x, rounds);
    else
        run_copies(x, rounds);
    printf("%d kernels, %d copies, %d sets, %d waits\n", kernels, copies, sets, syncs);
    fflush(stdout);
    if (strcmp(mode, "exit") == 0) {
        usleep(300000);
        _exit(0);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "streams";
    int rounds = argc > 2 ? atoi(argv[2]) : 100;
    pid_t child = strcmp(mode, "processes") == 0 ? fork() : -1;
    int result = run(mode, rounds);

    if (child > 0)
        (void)waitpid(child, NULL, 0);
    return result;
}
