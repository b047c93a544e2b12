#include "sampler/inside/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/inside/slot.h"

enum { PAGE_LEN = 4096 };

struct inside_thread {
    void *(*run)(void *);
    void *arg;
};

static void *run_thread(void *arg)
{
    struct inside_thread thread = *(struct inside_thread *)arg;
    int error = errno;

    if (!atomic_load(&cn_inside_is_sandboxed))
        (void)syscall(SYS_munmap, arg, (size_t)PAGE_LEN);
    cn_inside_thread_begin();
    errno = error;
    return thread.run(thread.arg);
}

__attribute__((visibility("default"))) int
pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *),
               void *arg)
{
    static int (*original)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                           void *);
    struct inside_thread *thread;
    void *page = MAP_FAILED;
    int result;

    if (!original) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");

        memcpy(&original, &found, sizeof(original));
    }
    /* Neither from malloc() nor from mmap(), which may be the program's own. */
    if (cn_inside_is_on())
        page = (void *)syscall(SYS_mmap, NULL, (size_t)PAGE_LEN, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (page == MAP_FAILED)
        return original(out, attributes, run, arg);
    thread = page;
    *thread = (struct inside_thread){run, arg};
    result = original(out, attributes, run_thread, thread);
    if (result != 0)
        (void)syscall(SYS_munmap, page, (size_t)PAGE_LEN);
    return result;
}
