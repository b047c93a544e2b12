/* A program that restricts its system calls (seccomp) would be ended by those of this library: from there on
 * it makes none.
 *
 * prctl() and syscall() are replaced. Calls may return twice, or on another stack: they are jumped to after
 * taking a note of their arguments.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "record/sandbox.h"
#include "sampler/inside/slot.h"

enum { PRCTL, SYSCALL, COUNT };

_Atomic bool cn_inside_is_sandboxed;

static uintptr_t originals[COUNT]; /* 0: the loader was not ready yet */

/* The kernel takes its arguments as they are: the function of the C library is not found yet. */
static long early_prctl(long option, long a, long b, long c, long d)
{
    return cn_rec_early_syscall(SYS_prctl, option, a, b, c, d, 0);
}

static uintptr_t forward(long first, long second, unsigned which)
    __attribute__((used, noinline));

/* What to jump to. */
static uintptr_t forward(long first, long second, unsigned which)
{
    long number = which == PRCTL ? SYS_prctl : first;
    long argument = which == PRCTL ? first : second;

    if (cn_rec_restricts((uint64_t)number, (uint64_t)argument) && cn_inside &&
        !atomic_exchange(&cn_inside_is_sandboxed, true))
        cn_inside_sandboxed();
    if (originals[which])
        return originals[which];
    return which == PRCTL ? (uintptr_t)early_prctl : (uintptr_t)cn_rec_early_syscall;
}

void cn_inside_find_calls(void)
{
    originals[PRCTL] = (uintptr_t)dlsym(RTLD_NEXT, "prctl");
    originals[SYSCALL] = (uintptr_t)dlsym(RTLD_NEXT, "syscall");
}

/* clang-format off */
#define BEGIN(name)                                                           \
    "\t.text\n\t.globl " name "\n\t.type " name ", %function\n" name ":\n"    \
    "\t.cfi_startproc\n"
#define END(name) "\t.cfi_endproc\n\t.size " name ", .-" name "\n"

#if defined(__x86_64__)
#define FORWARD(name, number)                                                 \
    __asm__(BEGIN(name)                                                       \
            "\tendbr64\n"                                                     \
            "\tpushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tpushq %rcx\n"        \
            "\tpushq %r8\n\tpushq %r9\n\tpushq %rax\n"                        \
            "\t.cfi_adjust_cfa_offset 56\n"                                   \
            "\tmovl $" number ", %edx\n"                                      \
            "\tcall forward\n"                                                \
            "\tmovq %rax, %r11\n"                                             \
            "\tpopq %rax\n\tpopq %r9\n\tpopq %r8\n"                           \
            "\tpopq %rcx\n\tpopq %rdx\n\tpopq %rsi\n\tpopq %rdi\n"            \
            "\t.cfi_adjust_cfa_offset -56\n"                                  \
            "\tjmp *%r11\n" END(name))
#else
#define FORWARD(name, number)                                                 \
    __asm__(BEGIN(name)                                                       \
            "\thint #34\n"                                                    \
            "\tstp x29, x30, [sp, #-96]!\n"                                   \
            "\t.cfi_def_cfa_offset 96\n"                                      \
            "\t.cfi_offset 29, -96\n\t.cfi_offset 30, -88\n"                  \
            "\tstp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n"              \
            "\tstp x4, x5, [sp, #48]\n\tstp x6, x7, [sp, #64]\n"              \
            "\tmov w2, #" number "\n"                                         \
            "\tbl forward\n"                                                  \
            "\tmov x16, x0\n"                                                 \
            "\tldp x0, x1, [sp, #16]\n\tldp x2, x3, [sp, #32]\n"              \
            "\tldp x4, x5, [sp, #48]\n\tldp x6, x7, [sp, #64]\n"              \
            "\tldp x29, x30, [sp], #96\n"                                     \
            "\t.cfi_def_cfa_offset 0\n\t.cfi_restore 29\n\t.cfi_restore 30\n" \
            "\tbr x16\n" END(name))
#endif
/* clang-format on */

FORWARD("prctl", "0");
FORWARD("syscall", "1");
