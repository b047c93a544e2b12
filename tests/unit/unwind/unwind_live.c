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
#include <ucontext.h>

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

/* What the unwinder knows of the frames of signals. */
#if defined(__x86_64__)
_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == 40, "registers have moved");
#elif defined(__aarch64__)
_Static_assert(sizeof(siginfo_t) == 128, "siginfo has another size");
_Static_assert(offsetof(ucontext_t, uc_mcontext.regs) == 184, "registers have moved");
_Static_assert(offsetof(ucontext_t, uc_mcontext.sp) == 184 + 8 * 31, "sp has moved");
_Static_assert(offsetof(ucontext_t, uc_mcontext.pc) == 184 + 8 * 32, "pc has moved");
#endif

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

/* Words between variables too, which sanitizers watch. */
__attribute__((no_sanitize("address", "thread"))) static size_t copy_stack(uint64_t sp)
{
    const volatile uint64_t *from = (const volatile uint64_t *)(uintptr_t)sp;
    uint64_t *to = (uint64_t *)(void *)copy;
    size_t size = 0, count;
    pthread_attr_t attributes;
    void *begin = NULL;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    (void)pthread_attr_getstack(&attributes, &begin, &size);
    (void)pthread_attr_destroy(&attributes);
    count = ((uintptr_t)begin + size - sp) / sizeof(*to);
    if (count > STACK_MAX / sizeof(*to))
        count = STACK_MAX / sizeof(*to);
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
    return count * sizeof(*to);
}

/* Look at the stack in both ways. */
__attribute__((noinline)) static void look(void)
{
    struct cn_unwind_registers registers;
    ucontext_t context;
    uint64_t sp;

    seen.expected_count = (size_t)backtrace(seen.expected, DEPTH_MAX);
    (void)getcontext(&context);
    registers_of(&context, &registers);
    sp = registers.value[registers.machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_SP
                                                                : CN_UNWIND_X86_RSP];
    seen.found_count =
        cn_unwind(space, &registers, sp, (struct cn_bytes){copy, copy_stack(sp)},
                  seen.found, DEPTH_MAX, &seen.end);
}

static void check(void)
{
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
