/* A program with work for a GPU, to be recorded where there is one.
 *
 * Usage: work MODE [ROUNDS]; prints how many operations of each kind it launched. MODE: streams (two of
 * them), graph (captured once, replayed), copies, managed (memory that migrates), long (kernels of
 * 200 us), processes (two, each with its own context), exit (_exit without an end), kill (the same, by SIGKILL),
 * memory (allocations of each kind; prints what is live at the peak and at the end), virtual (memory of
 * cuMemCreate), full (an allocation that does not fit). Link it with -lcuda. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <signal.h>
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

/* Bytes of device memory. */
static size_t allocated, live, live_at_peak;

static void count_bytes(size_t bytes)
{
    allocated += bytes;
    live += bytes;
    live_at_peak = live > live_at_peak ? live : live_at_peak;
}

__attribute__((noinline)) static float *keep_weights(size_t bytes)
{
    float *x;

    CHECK(cudaMalloc(&x, bytes));
    count_bytes(bytes);
    return x;
}

__attribute__((noinline)) static void use_scratch(size_t bytes, cudaStream_t stream)
{
    float *x, *y;

    CHECK(cudaMallocAsync(&x, bytes, stream));
    count_bytes(bytes);
    CHECK(cudaMallocManaged(&y, bytes));
    count_bytes(bytes);
    scale<<<LEN / 256, 256, 0, stream>>>(x, LEN);
    kernels++;
    CHECK(cudaFreeAsync(x, stream));
    wait_for(stream);
    CHECK(cudaFree(y));
    live -= 2 * bytes;
}

/* The first 4 MiB are those of run(). */
static void run_memory(int rounds)
{
    cudaStream_t stream;
    float *pinned;

    count_bytes(BYTES);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&pinned, BYTES));
    for (int i = 0; i < rounds; i++) {
        float *weights = keep_weights(2 * BYTES);

        use_scratch(3 * BYTES, stream);
        if (i > 0) {
            CHECK(cudaFree(weights));
            live -= 2 * BYTES;
        }
    }
    CHECK(cudaFreeHost(pinned));
    printf("%zu bytes allocated, %zu at the peak, %zu at the end\n", allocated, live_at_peak,
           live);
}

/* Memory of cuMemCreate(), as PyTorch's expandable segments have it. */
static void run_virtual(int rounds)
{
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access = {};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t step = 0;

    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    cuMemGetAllocationGranularity(&step, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    for (int i = 0; i < rounds; i++) {
        if (cuMemCreate(&handle, 2 * step, &prop, 0) != CUDA_SUCCESS ||
            cuMemAddressReserve(&at, 2 * step, 0, 0, 0) != CUDA_SUCCESS ||
            cuMemMap(at, 2 * step, 0, handle, 0) != CUDA_SUCCESS ||
            cuMemSetAccess(at, 2 * step, &access, 1) != CUDA_SUCCESS)
            exit(1);
        launch((float *)at, 0);
        wait_for(0);
        cuMemUnmap(at, 2 * step);
        cuMemRelease(handle);
        cuMemAddressFree(at, 2 * step);
    }
    printf("%zu bytes created %d times\n", 2 * step, rounds);
}

static void run_full(float *x)
{
    float *y = NULL;
    cudaError_t result = cudaMalloc(&y, (size_t)1 << 42);

    printf("%s\n", cudaGetErrorName(result));
    launch(x, 0);
    wait_for(0);
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
    else if (strcmp(mode, "memory") == 0)
        run_memory(rounds);
    else if (strcmp(mode, "virtual") == 0)
        run_virtual(rounds);
    else if (strcmp(mode, "full") == 0)
        run_full(x);
    else
        run_copies(x, rounds);
    printf("%d kernels, %d copies, %d sets, %d waits\n", kernels, copies, sets, syncs);
    fflush(stdout);
    if (strcmp(mode, "exit") == 0 || strcmp(mode, "kill") == 0) {
        usleep(500000);
        if (mode[0] == 'k')
            raise(SIGKILL);
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
