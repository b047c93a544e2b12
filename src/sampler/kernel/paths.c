#include "sampler/kernel/paths.h"

#ifdef CN_HAS_BPF
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "sampler/kernel/bpf.h"
#include "sampler/kernel/kernel.h"

/* From object.S. */
extern const uint8_t cn_paths_object[], cn_paths_object_end[];

struct cn_kernel_paths {
    const struct cn_bpf *bpf;
    struct bpf_object *object;
    struct ring_buffer *ring;
    int programs[CN_KERNEL_ARGUMENT_COUNT];
    void (*take)(void *arg, const uint8_t *record, size_t len);
    void *arg;
};

static int take_record(void *arg, void *data, size_t len)
{
    struct cn_kernel_paths *paths = arg;

    paths->take(paths->arg, data, len);
    return 0;
}

static bool load(struct cn_kernel_paths *paths, struct cn_error *err)
{
    static const char *const names[] = {
        [CN_KERNEL_PATH_FIRST] = "path_first",
        [CN_KERNEL_PATH_SECOND] = "path_second",
        [CN_KERNEL_ADDRESS_SECOND] = "address_second",
        [CN_KERNEL_ADDRESS_FOUND] = "address_found",
        [CN_KERNEL_PAIR_FIRST] = "pair_first",
        [CN_KERNEL_PAIR_FIRST_FLAGS] = "pair_first_flags",
        [CN_KERNEL_PAIR_FOURTH] = "pair_fourth",
    };
    const struct cn_bpf *bpf = paths->bpf;

    paths->object = bpf->object_open(
        cn_paths_object, (size_t)(cn_paths_object_end - cn_paths_object), NULL);
    if (!paths->object || bpf->object_load(paths->object) != 0)
        return cn_fail_errno(err, "the kernel does not load the BPF program");
    for (size_t i = 0; i < CN_KERNEL_ARGUMENT_COUNT; i++)
        paths->programs[i] = bpf->program_fd(bpf->find_program(paths->object, names[i]));
    paths->ring =
        bpf->ring_new(bpf->find_map(paths->object, "paths"), take_record, paths, NULL);
    return paths->ring || cn_fail_errno(err, "no ring of a BPF program");
}

struct cn_kernel_paths *cn_kernel_paths_new(struct cn_error *err)
{
    const struct cn_bpf *bpf = cn_kernel_bpf(err);
    struct cn_kernel_paths *paths;

    if (!bpf)
        return NULL;
    paths = cn_alloc(1, sizeof(*paths));
    paths->bpf = bpf;
    if (load(paths, err))
        return paths;
    cn_kernel_paths_free(paths);
    return NULL;
}

void cn_kernel_paths_free(struct cn_kernel_paths *paths)
{
    if (!paths)
        return;
    if (paths->ring)
        paths->bpf->ring_free(paths->ring);
    if (paths->object)
        paths->bpf->object_close(paths->object);
    free(paths);
}

bool cn_kernel_paths_attach(struct cn_kernel_paths *paths, int fd,
                            enum cn_kernel_argument which, struct cn_error *err)
{
    return ioctl(fd, PERF_EVENT_IOC_SET_BPF, paths->programs[which]) == 0 ||
           cn_fail_errno(err, "cannot attach the BPF program");
}

void cn_kernel_paths_read(struct cn_kernel_paths *paths,
                          void (*take)(void *arg, const uint8_t *record, size_t len),
                          void *arg)
{
    paths->take = take;
    paths->arg = arg;
    (void)paths->bpf->ring_consume(paths->ring);
}

#else

/* A build without clang or libbpf. */
struct cn_kernel_paths *cn_kernel_paths_new(struct cn_error *err)
{
    (void)cn_fail(err, CN_ERR_NOT_FOUND, "this cairn was built without clang or libbpf");
    return NULL;
}

void cn_kernel_paths_free(struct cn_kernel_paths *paths)
{
    (void)paths;
}

bool cn_kernel_paths_attach(struct cn_kernel_paths *paths, int fd,
                            enum cn_kernel_argument which, struct cn_error *err)
{
    (void)paths;
    (void)fd;
    (void)which;
    (void)err;
    return false;
}

void cn_kernel_paths_read(struct cn_kernel_paths *paths,
                          void (*take)(void *arg, const uint8_t *record, size_t len),
                          void *arg)
{
    (void)paths;
    (void)take;
    (void)arg;
}
#endif
