/* Stacks of this very process, compared with those that the C library finds. */

#include <execinfo.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "unwind/unwind.h"

enum { DEPTH_MAX = 64, STACK_MAX = 1 << 16 };

/* What a handler of a signal finds must be where it can be checked. */
static struct {
    uint64_t found[DEPTH_MAX];
    void *expected[DEPTH_MAX];
    size_t found_count, expected_count;
    enum cn_unwind_end end;
} seen;

static struct cn_unwinder *unwinder;
static struct cn_unwind_space *space;
static uint8_t *copy;

static void read_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[4096 + 128];

    assert_non_null(file);
    cn_unwind_space_clear(space);
    while (fgets(line, sizeof(line), file)) {
        uint64_t begin, end, off;
        char access[5], path[4097] = "";

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4096s", &begin,
                   &end, access, &off, path) >= 4 &&
            access[2] == 'x')
            cn_unwind_space_map(space, begin, end, off, path, "");
    }
    (void)fclose(file);
}

static void registers_of(const ucontext_t *context, struct cn_unwind_registers *out)
{
    *out = (struct cn_unwind_registers){.machine = cn_unwind_machine_here()};
#if defined(__x86_64__)
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        out->value[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    out->known = 0x1ffff;
#elif defined(__aarch64__)
    for (size_t i = 0; i < 31; i++)
        out->value[i] = context->uc_mcontext.regs[i];
    out->value[CN_UNWIND_ARM_SP] = context->uc_mcontext.sp;
    out->value[CN_UNWIND_ARM_PC] = context->uc_mcontext.pc;
    out->known = 0x1ffffffff;
#endif
}

/* Look at the stack in both ways. */
__attribute__((noinline)) static void look(void)
{
    struct cn_unwind_registers registers;
    struct iovec to, from;
    ucontext_t context;
    uint64_t sp;
    ssize_t len;

    seen.expected_count = (size_t)backtrace(seen.expected, DEPTH_MAX);
    (void)getcontext(&context);
    registers_of(&context, &registers);
    sp = registers.value[registers.machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_SP
                                                                : CN_UNWIND_X86_RSP];
    /* The stack ends somewhere within; the kernel copies up to there. */
    to = (struct iovec){copy, STACK_MAX};
    from = (struct iovec){(void *)(uintptr_t)sp, STACK_MAX};
    len = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    for (size_t room = STACK_MAX; len < 0 && room > 4096; room /= 2) {
        from.iov_len = to.iov_len = room;
        len = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    }
    seen.found_count =
        len < 0 ? 0
                : cn_unwind(space, &registers, sp, (struct cn_bytes){copy, (size_t)len},
                            seen.found, DEPTH_MAX, &seen.end);
}

static void check(void)
{
    if (seen.found_count == 0)
        skip(); /* reading its own memory is not allowed */
    assert_int_equal(seen.end, CN_UNWIND_WHOLE);
    assert_in_range(seen.expected_count, 4, DEPTH_MAX);
    /* Sanitizers have a frame of their own around backtrace(). */
    assert_in_range(seen.expected_count, seen.found_count, seen.found_count + 1);
    for (size_t i = 1; i < seen.found_count; i++)
        assert_int_equal(seen.found[seen.found_count - i],
                         (uintptr_t)seen.expected[seen.expected_count - i]);
}

static int compare(const void *a, const void *b)
{
    if (seen.found_count == 0)
        look();
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int sort(void)
{
    int numbers[] = {3, 1, 2};

    qsort(numbers, 3, sizeof(*numbers), compare);
    return numbers[0];
}

/* A frame whose alignment is found when it is entered. */
__attribute__((noinline)) static int aligned(int depth)
{
    volatile char room[64] __attribute__((aligned(128)));

    room[0] = (char)depth;
    return depth > 0 ? aligned(depth - 1) + room[0] : sort() + room[0];
}

static void begin(void)
{
    seen.found_count = 0;
    read_mappings();
}

static void frames_of_libraries(void **state)
{
    (void)state;
    begin();
    (void)aligned(5);
    check();
}

static void handle(int number)
{
    (void)number;
    look();
}

static void a_handler_and_what_it_interrupted(void **state)
{
    struct sigaction action = {.sa_handler = handle};

    (void)state;
    begin();
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    (void)raise(SIGUSR1);
    check();
}

static void *run_thread(void *arg)
{
    (void)aligned(2);
    return arg;
}

static void threads_begin_in_clone(void **state)
{
    pthread_t thread;

    (void)state;
    begin();
    assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    check();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_libraries),
        cmocka_unit_test(a_handler_and_what_it_interrupted),
        cmocka_unit_test(threads_begin_in_clone),
    };
    int result;

    if (cn_unwind_machine_here() == CN_UNWIND_NO_MACHINE)
        return 77;
    unwinder = cn_unwinder_new();
    cn_unwinder_set_no_cache(unwinder);
    space = cn_unwind_space_new(unwinder);
    copy = cn_alloc(STACK_MAX, 1);
    result = cmocka_run_group_tests(tests, NULL, NULL);
    free(copy);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
    return result;
}
