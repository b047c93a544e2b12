#include "record/code/loader.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "record/clock.h"
#include "record/code/elf_image.h"
#include "record/code/libcalls.h"
#include "record/code/machine.h"
#include "record/code/near_stub.h"
#include "record/code/patch.h"
#include "record/process.h"
#include "record/state/lock.h"
#include "record/state/session.h"
#include "record/state/thread.h"
#include "record/syscalls.h"

enum { FUNCTION_LEN = 16, LIBRARIES_MAX = 1024 };

struct library {
    const void *segments; /* its program headers; NULL: unused entry */
    uint64_t seen;        /* the last list that it was in */
    struct cn_rec_image image;
    struct cn_rec_patches patches;
    /* The task that opened it, until its library calls are recorded; else 0. Only that
     * task knows when the loader is done with the slots. */
    _Atomic uint32_t opener;
};

static struct {
    struct library list[LIBRARIES_MAX];
    _Atomic size_t count; /* entries ever used */
    uint64_t now;         /* number of the current list */
    bool is_watched, is_begun, is_deleting;
    struct cn_rec_lock lock; /* to unmap a file, or to write slots */
} loader;

static struct library *find(const void *segments)
{
    for (size_t i = 0; i < loader.count; i++) {
        if (loader.list[i].segments == segments)
            return &loader.list[i];
    }
    if (segments || loader.count == LIBRARIES_MAX)
        return NULL;
    return &loader.list[loader.count++];
}

static int take_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    struct library *library = find(info->dlpi_phdr);
    bool *is_program = arg, is_wanted;

    (void)size;
    if (!library && (library = find(NULL))) {
        library->segments = info->dlpi_phdr;
        cn_rec_image_read(&library->image, info->dlpi_addr, info->dlpi_phdr,
                          info->dlpi_phnum);
        cn_rec_patch(&library->patches, &library->image, path);
        is_wanted =
            cn_rec_libcalls_are_wanted(&library->image, *is_program ? NULL : path);
        library->opener = is_wanted ? cn_rec_tid() : 0;
    }
    if (library)
        library->seen = loader.now;
    *is_program = false;
    return 0;
}

static void take_libraries(void)
{
    bool is_program = !loader.is_begun;

    loader.now++;
    (void)dl_iterate_phdr(take_library, &is_program);
    loader.is_begun = true;
    for (size_t i = 0; i < loader.count; i++) {
        struct library *library = &loader.list[i];

        if (!library->segments || library->seen == loader.now)
            continue;
        library->opener = 0;
        cn_rec_libcalls_remove(&library->image);
        cn_rec_patches_remove(&library->patches);
        library->segments = NULL;
    }
}

/* Called by the loader inside dlopen() and dlclose(). */
static void on_list_change(void)
{
    int error = errno;
    uint64_t before;

    if (cn_rec_is_sandboxed)
        return;
    if (_r_debug.r_state == RT_DELETE) {
        cn_rec_lock(&loader.lock);
        loader.is_deleting = true;
    }
    if (_r_debug.r_state != RT_CONSISTENT)
        return;
    cn_rec_block_signals(&before);
    (void)cn_rec_session_libraries(cn_rec_clock_ns(cn_rec_process.shared), cn_rec_tid());
    take_libraries();
    if (loader.is_deleting) {
        loader.is_deleting = false;
        cn_rec_unlock(&loader.lock);
    }
    cn_rec_restore_signals(&before);
    errno = error;
}

static bool watch(void)
{
    uintptr_t at = (uintptr_t)_r_debug.r_brk, stub;
    bool is_diverted = false;
    uint64_t before;

    if (at == 0)
        return false;
    stub = cn_rec_near_stub(at, at + FUNCTION_LEN, (uintptr_t)on_list_change);
    cn_rec_block_signals(&before);
    /* Other threads may be in the loader already. */
    if (stub &&
        cn_rec_protect(at, at + FUNCTION_LEN, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        is_diverted = cn_rec_machine_divert((uint8_t *)at, stub);
        (void)cn_rec_protect(at, at + FUNCTION_LEN, PROT_READ | PROT_EXEC);
    }
    cn_rec_restore_signals(&before);
    __builtin___clear_cache((char *)at, (char *)at + FUNCTION_LEN);
    return is_diverted;
}

static bool add_pending(uint32_t tid)
{
    bool ok = true;

    for (size_t i = 0; i < atomic_load(&loader.count); i++) {
        struct library *library = &loader.list[i];
        uint32_t opener = tid;

        if (atomic_compare_exchange_strong(&library->opener, &opener, 0))
            ok = cn_rec_libcalls_add(&library->image) && ok;
    }
    return ok;
}

bool cn_rec_loader_begin(void)
{
    take_libraries();
    loader.is_watched = watch();
    bool ok = add_pending(cn_rec_tid());
    cn_rec_libcalls_started();
    return ok;
}

bool cn_rec_loader_is_watched(void)
{
    return loader.is_watched;
}

void cn_rec_loader_find_new(struct cn_rec_thread *self, uintptr_t sp)
{
    bool has_returned = sp >= self->dlopen_sp, is_done;
    uint64_t before;

    cn_rec_block_signals(&before);
    if (loader.is_watched) {
        /* Record the library calls of the new libraries, unless another thread has the
         * lock. Does not use the C library. */
        is_done = has_returned && cn_rec_lock_try(&loader.lock, true);
        if (is_done) {
            (void)add_pending(self->tid);
            cn_rec_unlock(&loader.lock);
        }
    } else {
        is_done = cn_rec_session_libraries(cn_rec_now(self), self->tid) || has_returned;
    }
    if (is_done)
        self->dlopen_sp = 0;
    cn_rec_thread_simplify(self);
    cn_rec_restore_signals(&before);
}
