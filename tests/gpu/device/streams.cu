/* A program for a real GPU: copies to the device and two kernels, in turns on two streams.
 *
 *     nvcc -arch=sm_90 -O1 -Xcompiler -pg -o streams streams.cu
 *     cairn record --gpu -d streams.data -- ./streams 50
 *
 * streams.tar.xz is what that recorded on an H200 with CUDA 13.0, without the symbols of other libraries
 * than libc and the driver's.
 */
#include <cstdio>
#include <cstdlib>

enum { COUNT = 1 << 22, BLOCKS = 264, THREADS = 256, STREAMS = 2 };

__global__ void scale(float *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (int k = 0; k < 200; k++)
            x[i] = x[i] * 1.0001f + 1;
}

__global__ void add(float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += y[i];
}

extern "C" __attribute__((noinline)) void copy_in(float *to, float *from, cudaStream_t stream)
{
    cudaMemcpyAsync(to, from, COUNT * sizeof(float), cudaMemcpyHostToDevice, stream);
}

extern "C" __attribute__((noinline)) void compute(float *x, float *y, cudaStream_t stream)
{
    scale<<<BLOCKS, THREADS, 0, stream>>>(x, COUNT);
    add<<<BLOCKS, THREADS, 0, stream>>>(x, y, COUNT);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50;
    float *x[STREAMS], *y[STREAMS], *host;
    cudaStream_t streams[STREAMS];

    cudaMallocHost((void **)&host, COUNT * sizeof(float));
    for (int i = 0; i < STREAMS; i++) {
        cudaMalloc((void **)&x[i], COUNT * sizeof(float));
        cudaMalloc((void **)&y[i], COUNT * sizeof(float));
        cudaMemset(y[i], 0, COUNT * sizeof(float));
        cudaStreamCreate(&streams[i]);
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < STREAMS; i++) {
            copy_in(x[i], host, streams[i]);
            compute(x[i], y[i], streams[i]);
        }
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
