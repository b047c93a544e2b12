/* Reads paths and addresses that processes pass to system calls, at the end of the call: a descriptor may be
 * closed again before the sampler can ask what it is. At its beginning, the memory with the path may not be
 * mapped yet, and programs here cannot wait for it.
 *
 * Runs at the tracepoints of calls such as syscalls:sys_exit_openat, in all processes: the sampler drops
 * the records of those that it does not sample.
 */
#include <linux/bpf.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>

#include "sampler/kernel/paths_shared.h"

char cn_license[] SEC("license") = "GPL"; /* as unwind.bpf.c */

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, CN_KERNEL_PATHS_LEN);
} paths SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct cn_kernel_path);
} rooms SEC(".maps");

/* Where the kernel saved the first four arguments when it was entered. */
#ifdef CN_MACHINE_aarch64
#define ARGUMENT_OFF(index) ((index) == 0 ? 34 * 8 : (index)*8)
#else
#define ARGUMENT_OFF(index) ((index) == 3 ? 56 : 112 - (index)*8)
#endif

static __always_inline uint64_t argument(uint32_t index)
{
    const uint8_t *saved = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    uint64_t value = 0;

    (void)bpf_probe_read_kernel(&value, sizeof(value), saved + ARGUMENT_OFF(index));
    return value;
}

static __always_inline struct cn_kernel_path *begin(uint32_t kind)
{
    uint64_t task = bpf_get_current_pid_tgid();
    uint32_t zero = 0;
    struct cn_kernel_path *path = bpf_map_lookup_elem(&rooms, &zero);

    if (!path)
        return path;
    path->head = (struct cn_kernel_record){
        .kind = CN_KERNEL_PATH,
        .pid = (uint32_t)(task >> 32),
        .tid = (uint32_t)task,
        .time_ns = bpf_ktime_get_ns(),
    };
    path->kind = kind;
    path->flags = 0;
    return path;
}

static __always_inline int send(struct cn_kernel_path *path, long len)
{
    if (len <= 0 || len > CN_KERNEL_PATH_MAX)
        return 0;
    path->len = (uint32_t)len;
    (void)bpf_ringbuf_output(&paths, path, sizeof(*path) - CN_KERNEL_PATH_MAX + len,
                             BPF_RB_NO_WAKEUP);
    return 0;
}

static __always_inline int send_path(uint64_t address)
{
    struct cn_kernel_path *path = begin(CN_KERNEL_IS_PATH);

    return path ? send(path, bpf_probe_read_user_str(path->text, CN_KERNEL_PATH_MAX,
                                                     (const void *)address))
                : 0;
}

SEC("tracepoint")
int path_first(void *left)
{
    (void)left;
    return send_path(argument(0));
}

SEC("tracepoint")
int path_second(void *left)
{
    (void)left;
    return send_path(argument(1));
}

static __always_inline int send_address(uint64_t address, uint64_t len)
{
    struct cn_kernel_path *path = begin(CN_KERNEL_IS_ADDRESS);

    /* What is checked is what is used: the compiler must not load it again. */
    asm volatile("" : "+r"(len));
    if (len == 0 || len > CN_KERNEL_ADDRESS_MAX)
        len = CN_KERNEL_ADDRESS_MAX;
    if (!path || bpf_probe_read_user(path->text, len, (const void *)address) != 0)
        return 0;
    return send(path, (long)len);
}

SEC("tracepoint")
int address_second(void *left)
{
    (void)left;
    return send_address(argument(1), argument(2));
}

/* The result of a call, at its tracepoint. */
static __always_inline int64_t result_of(const void *left)
{
    return *(const int64_t *)((const uint8_t *)left + 16);
}

SEC("tracepoint")
int address_found(void *left)
{
    uint32_t len = 0;

    if (result_of(left) < 0 ||
        bpf_probe_read_user(&len, sizeof(len), (const void *)argument(2)) != 0)
        return 0;
    return send_address(argument(1), len);
}

static __always_inline int send_pair(const void *left, uint64_t address, uint64_t flags)
{
    struct cn_kernel_path *path = result_of(left) == 0 ? begin(CN_KERNEL_IS_PAIR) : 0;

    if (!path ||
        bpf_probe_read_user(path->text, 2 * sizeof(int32_t), (const void *)address) != 0)
        return 0;
    path->flags = flags;
    return send(path, 2 * sizeof(int32_t));
}

SEC("tracepoint")
int pair_first(void *left)
{
    return send_pair(left, argument(0), 0);
}

SEC("tracepoint")
int pair_first_flags(void *left)
{
    return send_pair(left, argument(0), argument(1));
}

SEC("tracepoint")
int pair_fourth(void *left)
{
    return send_pair(left, argument(3), argument(1));
}
