/* The library that libcuda.so loads where CUDA_INJECTION64_PATH names it, and NVTX where
 * NVTX_INJECTION64_PATH does: records the GPU work of the program, and the ranges that it names, to the
 * file that CAIRN_GPU names.
 *
 * The program must not notice: what fails ends the recording, not the program. After a fork, the
 * child records nothing until it starts CUDA or runs another program; if the parent had started CUDA,
 * GPUs cannot be used there before that either. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "gpu/backend.h"
#include "gpu/file.h"
#include "gpu/launch.h"
#include "gpu/path.h"
#include "gpu/shared.h"
#include "gpu/start.h"
#include "gpu/thread.h"

#define EXPORT __attribute__((visibility("default")))

/* The one that was started; NULL: none. */
static const struct cn_gpu_backend *backend;

static void at_end(void)
{
    if (backend)
        backend->flush();
}

static void after_fork(void)
{
    cn_gpu_file_abandon();
    cn_gpu_thread_forget();
    cn_gpu_names_forget();
    if (backend)
        backend->abandon();
    backend = NULL;
}

bool cn_gpu_open_once(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_known;
    const char *path = getenv(CN_GPU_ENV);

    (void)pthread_mutex_lock(&lock);
    if (path && !is_known && cn_gpu_threads_init()) {
        (void)pthread_atfork(NULL, NULL, after_fork);
        is_known = true;
    }
    bool ok = is_known && (cn_gpu_file_is_open() || (path && cn_gpu_file_open(path)));
    (void)pthread_mutex_unlock(&lock);
    return ok;
}

static void begin(const struct cn_gpu_backend *chosen, const void *caller)
{
    char why[512] = "";

    if (backend || !cn_gpu_open_once())
        return;
    cn_gpu_path_hide((const void *)(uintptr_t)begin);
    cn_gpu_path_hide(caller);
    if (!chosen->start(caller, why, sizeof(why))) {
        cn_gpu_note(0, why);
        return;
    }
    backend = chosen;
    (void)atexit(at_end);
}

/* Called by the driver of NVIDIA as it is initialised. */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
    int error = errno;

    begin(&cn_gpu_cupti, __builtin_return_address(0));
    errno = error;
    return 1;
}
