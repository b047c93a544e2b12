/* Small valid perf.data files, for tests that damage them.
 * Each is to be released with free(). Threads: any thread.
 */
#ifndef CN_TEST_PERF_INPUTS_H
#define CN_TEST_PERF_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cn_test_perf_form {
    CN_TEST_PERF_FILE,
    CN_TEST_PERF_PIPE,
    CN_TEST_PERF_PACKED,  /* a file with compressed records */
    CN_TEST_PERF_PACKED2, /* the same, as later versions of perf write it */
    CN_TEST_PERF_FORMS,
};

/* perf.data of two events, a fork, an exec, mappings and samples. */
uint8_t *cn_test_perf(enum cn_test_perf_form form, size_t *len);

/* perf.data of a thread that runs in /none/work for 65 ns, is blocked in /none/wait for 40 ns
 * and pre-empted for 5 ns, somewhere. */
uint8_t *cn_test_perf_switches(size_t *len);

/* Two threads with processors: samples of a clock, a wake-up, and tracepoints of switches, of all
 * threads or of one alone. */
uint8_t *cn_test_perf_processors(bool has_switches, size_t *len);

/* perf.data of a sample in the kernel, which was entered at the first byte of /none/wait, where
 * /none/work ends. */
uint8_t *cn_test_perf_fault(size_t *len);

/* perf.data of a thread in /none/work, with the GPU work of gpu_inputs.h. */
uint8_t *cn_test_perf_gpu(size_t *len);

/* perf.data of a thread in /none/work that allocates 1000 bytes at 0x1010, of which it frees 400, and
 * 100 bytes by mmap() at 0x1020; one allocation was lost. Not sampled. */
uint8_t *cn_test_perf_memory(size_t *len);

/* perf.data of a thread in /none/work and its system calls: it opens notes in /home, reads it through two
 * descriptors, fails to write to the terminal, writes to a pipe and asks what it is, serves, asks a disk,
 * also for a page, accesses pages, and begins two reads whose ends are missing. */
uint8_t *cn_test_perf_io(size_t *len);

/* perf.data with registers, copies of stacks, branches and counters that were read. */
uint8_t *cn_test_perf_copies(size_t *len);

#endif
