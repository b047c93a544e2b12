#include "gpu/thread.h"

#include <pthread.h>
#include <sys/mman.h>

#include "gpu/path.h"

/* Not a variable of the thread: where many libraries are loaded, there may be no room for those of
 * one that is loaded late. */
static pthread_key_t key;

static void release(void *arg)
{
    struct cn_gpu_thread *thread = arg;

    cn_gpu_writer_close(&thread->writer);
    cn_gpu_paths_free(thread->paths);
    (void)munmap(thread, sizeof(*thread));
}

bool cn_gpu_threads_init(void)
{
    return pthread_key_create(&key, release) == 0;
}

void cn_gpu_thread_forget(void)
{
    struct cn_gpu_thread *thread = pthread_getspecific(key);

    if (thread && pthread_setspecific(key, NULL) == 0)
        release(thread);
}

struct cn_gpu_thread *cn_gpu_thread(void)
{
    struct cn_gpu_thread *thread = pthread_getspecific(key);
    void *at;

    if (thread)
        return thread;
    /* Not from malloc(), which may be the program's own. */
    at = mmap(NULL, sizeof(*thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
    if (at == MAP_FAILED || pthread_setspecific(key, at) != 0)
        return NULL;
    return at;
}
