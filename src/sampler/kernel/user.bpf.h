/* What programs in the kernel that look at a task of a user have in common: its registers and memory, and the
 * ring for the sampler.
 *
 * Part of unwind.bpf.c and allocations.bpf.c.
 */
#ifndef CN_SAMPLER_KERNEL_USER_BPF_H
#define CN_SAMPLER_KERNEL_USER_BPF_H

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, CN_KERNEL_RING_LEN);
} ring SEC(".maps");

/* The sampler empties the ring now and then, and when it is half full. */
static __always_inline uint64_t wake_up_if_full(void)
{
    return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= CN_KERNEL_RING_LEN / 2
               ? BPF_RB_FORCE_WAKEUP
               : BPF_RB_NO_WAKEUP;
}

static __always_inline bool read_user(void *out, uint32_t len, uint64_t address)
{
    return bpf_probe_read_user(out, len, (const void *)address) == 0;
}

/* The registers of the user's code. `kernel` is where the kernel saved them when it was entered,
 * in the layout of <asm/ptrace.h>. */
struct user_registers {
#ifdef CN_MACHINE_aarch64
    uint64_t x28;
#endif
    uint64_t fp, lr, sp, pc;
    uint64_t argument; /* the first one of a system call */
};

#ifdef CN_MACHINE_aarch64
#define FRAME_PC(at) ((at)->pc)
#define IS_USER(at)  (((at)->pstate & 0xf) == 0)
#define REGISTERS(at)                                                         \
    {                                                                         \
        (at)->regs[28], (at)->regs[29], (at)->regs[30], (at)->sp, (at)->pc, 0 \
    }

static __always_inline bool read_registers(struct user_registers *out, const void *kernel)
{
    struct {
        uint64_t x28, fp, lr, sp, pc, pstate;
    } saved;
    const bpf_user_pt_regs_t *from = kernel;
    uint64_t x0;

    if (bpf_probe_read_kernel(&saved, sizeof(saved), &from->regs[28]) != 0 ||
        bpf_probe_read_kernel(&x0, sizeof(x0), &from->regs[0]) != 0)
        return false;
    *out = (struct user_registers){saved.x28, saved.fp, saved.lr, saved.sp, saved.pc, x0};
    return (saved.pstate & 0xf) == 0;
}
#else
#define FRAME_PC(at) ((at)->rip)
#define IS_USER(at)  (((at)->cs & 3) == 3)
#define REGISTERS(at)                         \
    {                                         \
        (at)->rbp, 0, (at)->rsp, (at)->rip, 0 \
    }

static __always_inline bool read_registers(struct user_registers *out, const void *kernel)
{
    struct {
        uint64_t rdi, orig_rax, rip, cs, flags, rsp;
    } saved;
    const bpf_user_pt_regs_t *from = kernel;
    uint64_t rbp;

    if (bpf_probe_read_kernel(&rbp, sizeof(rbp), &from->rbp) != 0 ||
        bpf_probe_read_kernel(&saved, sizeof(saved), &from->rdi) != 0)
        return false;
    *out = (struct user_registers){rbp, 0, saved.rsp, saved.rip, saved.rdi};
    return (saved.cs & 3) == 3;
}
#endif

#endif
