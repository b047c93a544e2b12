#include "sampler/kernel/allocations.h"

#include "sampler/kernel/allocations_shared.h"
#include "sampler/kernel/kernel.h"

#ifdef CN_HAS_BPF
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sampler/kernel/bpf.h"

/* From object.S. */
extern const uint8_t cn_allocations_object[], cn_allocations_object_end[];

enum {
    UPROBE_SESSION = 57, /* of enum bpf_attach_type, since 6.13 */
    IS_RETURN = 1,       /* config of an event of uprobes */
};

/* The union bpf_attr for a link of uprobes, as old headers lack it. */
struct uprobe_link {
    uint32_t program, target, attach_type, flags;
    uint64_t path, offsets, counters, cookies;
    uint32_t count, uprobe_flags, pid, unused;
};

static const struct {
    const char *begins, *session;
} names[CN_KERNEL_FUNCTION_COUNT] = {
    [CN_KERNEL_TAKES_SIZE] = {"begins_first", "session_first"},
    [CN_KERNEL_TAKES_PRODUCT] = {"begins_product", "session_product"},
    [CN_KERNEL_TAKES_BLOCK] = {"begins_realloc", "session_realloc"},
    [CN_KERNEL_TAKES_ALIGNMENT] = {"begins_aligned", "session_aligned"},
    [CN_KERNEL_TAKES_PLACE] = {"begins_posix", "session_posix"},
    [CN_KERNEL_TAKES_MAPPING] = {"begins_mapping", "session_mapping"},
    [CN_KERNEL_FREES] = {"frees", NULL},
};

struct cn_kernel_allocations_probes {
    const struct cn_bpf *bpf;
    struct bpf_object *object;
    int begins[CN_KERNEL_FUNCTION_COUNT], sessions[CN_KERNEL_FUNCTION_COUNT], ends;
    uint32_t event_type; /* of uprobes */
    bool has_no_sessions;
    int *fds; /* links and events */
    size_t fd_count, fd_capacity;
};

static bool find_event_type(uint32_t *out, struct cn_error *err)
{
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    char line[32] = "", *end;

    if (file) {
        (void)!fgets(line, sizeof(line), file);
        (void)fclose(file);
    }
    *out = (uint32_t)strtoul(line, &end, 10);
    return end != line ||
           cn_fail(err, CN_ERR_NOT_FOUND, "this kernel has no uprobes (CONFIG_UPROBES)");
}

/* Use the map of the programs that unwind stacks. */
static bool share(struct cn_kernel_allocations_probes *p, const struct cn_kernel *kernel,
                  const char *name)
{
    struct bpf_map *map = p->bpf->map_by_name(p->object, name);

    return map && p->bpf->reuse_map(map, cn_kernel_map(kernel, name)) == 0;
}

static bool set_room(struct cn_kernel_allocations_probes *p, const char *name)
{
    struct bpf_map *map = p->bpf->map_by_name(p->object, name);
    int count = p->bpf->processor_count();

    return map && count > 0 && p->bpf->set_max_entries(map, (uint32_t)count) == 0;
}

static void set_session(struct cn_kernel_allocations_probes *p, const char *name)
{
    struct bpf_program *program = p->bpf->find_program(p->object, name);

    if (program)
        (void)p->bpf->set_attach_type(program, (enum bpf_attach_type)UPROBE_SESSION);
}

static int program_fd(const struct cn_kernel_allocations_probes *p, const char *name)
{
    struct bpf_program *program = p->bpf->find_program(p->object, name);

    return program ? p->bpf->program_fd(program) : -1;
}

/* Equally likely distances: the middles of equal parts of the distribution. */
static void fill_gaps(struct cn_kernel_allocations_probes *p, uint64_t interval)
{
    const uint32_t count = 1 << CN_KERNEL_GAP_BITS;
    int map = p->bpf->find_map(p->object, "gaps");

    for (uint32_t i = 0; i < count; i++) {
        double gap = -log((i + 0.5) / count) * (double)interval;
        uint64_t value = gap < 1e18 ? (uint64_t)gap + 1 : UINT64_C(1000000000000000000);

        (void)p->bpf->map_update(map, &i, &value, 0);
    }
}

static bool load(struct cn_kernel_allocations_probes *p, const struct cn_kernel *kernel,
                 uint64_t interval, struct cn_error *err)
{
    size_t len = (size_t)(cn_allocations_object_end - cn_allocations_object);
    uint32_t zero = 0;

    p->object = p->bpf->object_open(cn_allocations_object, len, NULL);
    if (!p->object || !share(p, kernel, "ring") || !share(p, kernel, "interpreters") ||
        !share(p, kernel, "thread_states") || !set_room(p, "frame_walks") ||
        !set_room(p, "rooms"))
        return cn_fail_errno(err, "cannot prepare the BPF program for allocations");
    for (size_t i = 0; i < CN_KERNEL_FUNCTION_COUNT; i++)
        if (names[i].session)
            set_session(p, names[i].session);
    set_session(p, "session_ends");
    if (p->bpf->object_load(p->object) != 0)
        return cn_fail_errno(err, "the kernel does not load the BPF program for "
                                  "allocations");
    for (size_t i = 0; i < CN_KERNEL_FUNCTION_COUNT; i++) {
        p->begins[i] = names[i].begins ? program_fd(p, names[i].begins) : -1;
        p->sessions[i] = names[i].session ? program_fd(p, names[i].session) : -1;
    }
    p->ends = program_fd(p, "ends");
    int session_ends = program_fd(p, "session_ends");
    p->has_no_sessions = p->bpf->map_update(p->bpf->find_map(p->object, "ends_of"), &zero,
                                            &session_ends, 0) != 0;
    fill_gaps(p, interval);
    return true;
}

struct cn_kernel_allocations_probes *cn_kernel_allocations_new(struct cn_kernel *kernel,
                                                               uint64_t interval,
                                                               struct cn_error *err)
{
    struct cn_kernel_allocations_probes *p = cn_alloc(1, sizeof(*p));

    p->bpf = cn_bpf();
    if (p->bpf && find_event_type(&p->event_type, err) && load(p, kernel, interval, err))
        return p;
    cn_kernel_allocations_free(p);
    return NULL;
}

static bool add_fd(struct cn_kernel_allocations_probes *p, int fd)
{
    if (fd >= 0)
        CN_PUSH(p->fds, p->fd_count, p->fd_capacity, fd);
    return fd >= 0;
}

/* An event of one task, at which a program runs for all threads of its process. */
static bool add_event(struct cn_kernel_allocations_probes *p, pid_t pid,
                      const struct cn_kernel_probe *probe, bool is_return, int program,
                      struct cn_error *err)
{
    struct perf_event_attr attr = {
        .type = p->event_type,
        .size = sizeof(attr),
        .config = is_return ? IS_RETURN : 0,
        .uprobe_path = (uint64_t)(uintptr_t)probe->path,
        .probe_offset = probe->off,
        .disabled = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (!add_fd(p, fd))
        return cn_fail_errno(err, "cannot put a probe into '%s'", probe->path);
    return program < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0 ||
           cn_fail_errno(err, "cannot attach the BPF program");
}

static bool add_session(struct cn_kernel_allocations_probes *p, pid_t pid,
                        const struct cn_kernel_probe *probe)
{
    uint64_t offset = probe->off;
    struct uprobe_link link = {
        .program = (uint32_t)p->sessions[probe->function],
        .attach_type = UPROBE_SESSION,
        .path = (uint64_t)(uintptr_t)probe->path,
        .offsets = (uint64_t)(uintptr_t)&offset,
        .count = 1,
        .pid = (uint32_t)pid,
    };

    return add_fd(p, (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link)));
}

bool cn_kernel_allocations_attach(struct cn_kernel_allocations_probes *p, pid_t pid,
                                  const struct cn_kernel_allocator *allocator,
                                  const struct cn_kernel_probe *list, size_t count,
                                  struct cn_error *err)
{
    uint32_t key = (uint32_t)pid;

    (void)p->bpf->map_update(p->bpf->find_map(p->object, "allocators"), &key, allocator,
                             0);
    for (size_t i = 0; i < count; i++) {
        const struct cn_kernel_probe *probe = &list[i];
        bool has_end = names[probe->function].session != NULL;

        if (has_end && !p->has_no_sessions && add_session(p, pid, probe))
            continue;
        p->has_no_sessions = p->has_no_sessions || has_end;
        /* The begin comes last: it asks for the end. */
        if ((has_end && !add_event(p, pid, probe, true, p->ends, err)) ||
            !add_event(p, pid, probe, false, p->begins[probe->function], err))
            return false;
    }
    return true;
}

void cn_kernel_allocations_count(const struct cn_kernel_allocations_probes *p,
                                 uint64_t *probe_count, uint64_t *lost_count)
{
    int count = p->bpf->processor_count();
    struct cn_kernel_allocations *list =
        cn_alloc(count > 0 ? (size_t)count : 1, sizeof(*list));
    uint32_t zero = 0;

    *probe_count = *lost_count = 0;
    if (count > 0 &&
        p->bpf->map_lookup(p->bpf->find_map(p->object, "counts"), &zero, list) == 0) {
        for (int i = 0; i < count; i++) {
            *probe_count += list[i].probe_count;
            *lost_count += list[i].lost_count;
        }
    }
    free(list);
}

void cn_kernel_allocations_detach(struct cn_kernel_allocations_probes *p)
{
    for (size_t i = 0; i < p->fd_count; i++)
        (void)close(p->fds[i]);
    p->fd_count = 0;
}

void cn_kernel_allocations_free(struct cn_kernel_allocations_probes *p)
{
    if (!p)
        return;
    cn_kernel_allocations_detach(p);
    if (p->object)
        p->bpf->object_close(p->object);
    free(p->fds);
    free(p);
}

#else

struct cn_kernel_allocations_probes *cn_kernel_allocations_new(struct cn_kernel *kernel,
                                                               uint64_t interval,
                                                               struct cn_error *err)
{
    (void)kernel;
    (void)interval;
    (void)cn_fail(err, CN_ERR_NOT_FOUND, "this cairn was built without clang or libbpf");
    return NULL;
}

bool cn_kernel_allocations_attach(struct cn_kernel_allocations_probes *p, pid_t pid,
                                  const struct cn_kernel_allocator *allocator,
                                  const struct cn_kernel_probe *list, size_t count,
                                  struct cn_error *err)
{
    (void)p;
    (void)pid;
    (void)allocator;
    (void)list;
    (void)count;
    (void)err;
    return false;
}

void cn_kernel_allocations_count(const struct cn_kernel_allocations_probes *p,
                                 uint64_t *probe_count, uint64_t *lost_count)
{
    (void)p;
    *probe_count = *lost_count = 0;
}

void cn_kernel_allocations_detach(struct cn_kernel_allocations_probes *p)
{
    (void)p;
}

void cn_kernel_allocations_free(struct cn_kernel_allocations_probes *p)
{
    (void)p;
}
#endif
