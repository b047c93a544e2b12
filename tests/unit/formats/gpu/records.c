#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/gpu/format.h"
#include "formats/gpu/records.h"
#include "model/contexts/context.h"
#include "model/gpu/builder.h"
#include "support/gpu_inputs.h"

enum { THREAD = 5, STACK = 77 };

static bool thread_of(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                      struct cn_error *err)
{
    (void)arg;
    (void)err;
    assert_int_equal(pid, CN_TEST_GPU_PID);
    assert_int_equal(tid, CN_TEST_GPU_TID);
    *out = THREAD;
    return true;
}

/* As above, for damaged files. */
static bool any_thread(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                       struct cn_error *err)
{
    (void)arg;
    (void)pid;
    (void)err;
    *out = tid % 16;
    return true;
}

static uint32_t stack_of(void *arg, uint32_t pid, struct cn_bytes addresses)
{
    (void)arg;
    (void)pid;
    for (size_t i = 0; i + 8 <= addresses.len; i += 8)
        (void)cn_u64_get(addresses.ptr + i);
    return STACK;
}

static const struct cn_gpu_records_to to_threads = {.thread = thread_of,
                                                    .stack = stack_of};
static const struct cn_gpu_records_to to_any = {.thread = any_thread, .stack = stack_of};

static void count_note(void *arg, const char *text, uint64_t count)
{
    assert_string_equal(text, "operations were dropped");
    *(uint64_t *)arg += count;
}

static void operations_are_below_their_calls(void **state)
{
    size_t len;
    uint8_t *file = cn_test_gpu_file(&len);
    struct cn_gpu_records *r = cn_gpu_records_new(&to_threads);
    struct cn_error err = {0};
    uint64_t dropped = 0;

    (void)state;
    assert_true(cn_gpu_records_take_file(r, (struct cn_bytes){file, len}, &err));
    struct cn_gpu_work *work = cn_gpu_records_finish(r);
    assert_int_equal(work->op_count, 4);
    assert_int_equal(work->stream_count, 1);
    assert_int_equal(work->streams[0].number, 7);
    assert_int_equal(work->streams[0].pid, CN_TEST_GPU_PID);
    assert_int_equal(work->device_count, 1);
    const struct cn_gpu_op *kernel = &work->ops[0];
    assert_int_equal(kernel->begin_ns, 10002000); /* of the host's clock */
    assert_int_equal(kernel->launch_ns, 10000000);
    assert_int_equal(kernel->thread, THREAD);
    assert_string_equal(cn_gpu_records_name(r, kernel->place), "_Z5scalePfi");
    struct cn_gpu_path path = cn_gpu_records_path(r, kernel->path);
    assert_int_equal(path.stack, STACK);
    assert_string_equal(path.call, "cuLaunchKernel");
    assert_int_equal(work->shapes[kernel->shape].max_warps, 64);
    /* The second has no launch. */
    assert_int_equal(work->lonely_count, 1);
    assert_int_equal(work->ops[1].thread, CN_NONE);
    assert_int_equal(work->ops[2].bytes, 4096);
    /* Of the wait, the device is known by its context, and no stack was taken. */
    assert_int_equal(work->ops[3].device, 0);
    assert_int_equal(cn_gpu_records_path(r, work->ops[3].path).stack, CN_NONE);
    cn_gpu_records_notes(r, count_note, &dropped);
    assert_int_equal(dropped, 3);
    cn_gpu_work_free(work);
    cn_gpu_records_free(r);
    free(file);
}

/* A call made nodes 8 and 9, of which no stack was taken; 109 is a copy of 9. */
static void nodes_without_stacks_have_the_time_of_their_call(void **state)
{
    const struct cn_gpu_writer_id by = {CN_TEST_GPU_PID, CN_TEST_GPU_TID, 0};
    uint8_t bytes[2 * cn_gpu_capture_size + cn_gpu_node_size + cn_gpu_op_record_size];
    uint8_t *at = bytes;
    struct cn_gpu_records *r = cn_gpu_records_new(&to_threads);
    struct cn_error err = {0};

    (void)state;
    for (uint64_t node = 8; node <= 9; node++, at += cn_gpu_capture_size) {
        (void)cn_gpu_capture_encode(&(struct cn_gpu_capture){node, 12345}, at);
        (void)cn_gpu_record_encode(&(struct cn_gpu_record){.type = CN_GPU_IS_CAPTURE,
                                                           .len = cn_gpu_capture_size},
                                   at);
    }
    (void)cn_gpu_node_encode(&(struct cn_gpu_node){.node = 109, .copied_from = 9}, at);
    (void)cn_gpu_record_encode(
        &(struct cn_gpu_record){.type = CN_GPU_IS_NODE, .len = cn_gpu_node_size}, at);
    at += cn_gpu_node_size;
    (void)cn_gpu_op_record_encode(
        &(struct cn_gpu_op_record){
            .kind = CN_GPU_KERNEL, .begin = 1, .end = 2, .object = 109},
        at);
    (void)cn_gpu_record_encode(
        &(struct cn_gpu_record){.type = CN_GPU_IS_OP, .len = cn_gpu_op_record_size}, at);
    assert_true(
        cn_gpu_records_take(r, by, (struct cn_bytes){bytes, sizeof(bytes)}, &err));
    struct cn_gpu_work *work = cn_gpu_records_finish(r);

    assert_int_equal(work->op_count, 1);
    assert_int_not_equal(work->ops[0].capture, 0);
    struct cn_gpu_path path = cn_gpu_records_path(r, work->ops[0].capture - 1);
    assert_int_equal(path.time_ns, 12345);
    assert_int_not_equal(path.thread, CN_NONE);
    assert_int_equal(path.stack, CN_NONE);
    cn_gpu_work_free(work);
    cn_gpu_records_free(r);
}

/* True if the file is whole; what is read of it can be used in any case. */
static bool read_any(struct cn_bytes file)
{
    struct cn_gpu_records *r = cn_gpu_records_new(&to_any);
    struct cn_error err = {0};
    bool ok = cn_gpu_records_take_file(r, file, &err);
    struct cn_gpu_work *work = cn_gpu_records_finish(r);

    assert_true(ok || err.kind == CN_ERR_FORMAT || err.kind == CN_ERR_LIMIT);
    for (uint32_t i = 0; work && i < work->op_count; i++) {
        assert_true(work->ops[i].end_ns >= work->ops[i].begin_ns);
        (void)cn_gpu_records_name(r, work->ops[i].place);
        (void)cn_gpu_records_path(r, work->ops[i].path);
    }
    cn_gpu_work_free(work);
    cn_gpu_records_free(r);
    return ok;
}

static void rejects_every_truncation(void **state)
{
    size_t len;
    uint8_t *file = cn_test_gpu_file(&len);

    (void)state;
    for (size_t i = 0; i < len; i++) {
        /* A copy, so that reading after the end is found. */
        uint8_t *copy = malloc(i + 1);

        memcpy(copy, file, i);
        assert_true(read_any((struct cn_bytes){copy, i}) ==
                    (i == CN_TEST_GPU_BLOCKS_OFF));
        free(copy);
    }
    assert_true(read_any((struct cn_bytes){file, len}));
    free(file);
}

static void survives_every_flip(void **state)
{
    size_t len, bad = 0;
    uint8_t *file = cn_test_gpu_file(&len);

    (void)state;
    for (size_t bit = 0; bit < 8 * len; bit++) {
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
        bad += !read_any((struct cn_bytes){file, len});
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(bad > 300); /* types, lengths and kinds */
    free(file);
}

/* Read the file with one number of it changed; the caller frees what is returned. */
static struct cn_gpu_work *read_changed(size_t off, uint64_t from, uint64_t to)
{
    size_t len;
    uint8_t *file = cn_test_gpu_file(&len);
    struct cn_gpu_records *r = cn_gpu_records_new(&to_threads);
    struct cn_error err = {0};

    assert_int_equal(cn_u64_get(file + off), from);
    cn_u64_put(file + off, to);
    assert_true(cn_gpu_records_take_file(r, (struct cn_bytes){file, len}, &err));
    struct cn_gpu_work *work = cn_gpu_records_finish(r);
    cn_gpu_records_free(r);
    free(file);
    return work;
}

/* Where the first kernel begins: after the clock, the device, a call, a stack and a name. */
static size_t kernel_off(void)
{
    return cn_test_gpu_records_off() + cn_gpu_clock_size + cn_gpu_device_record_size + 8 +
           cn_gpu_call_size + cn_gpu_stack_size + 24 + cn_gpu_name_size + 16;
}

static void programs_of_one_process_are_apart(void **state)
{
    size_t len, off = cn_test_gpu_records_off();
    uint8_t *file = cn_test_gpu_file(&len);
    struct cn_gpu_records *r = cn_gpu_records_new(&to_threads);
    struct cn_bytes records = {file + off, len - off};
    struct cn_error err = {0};

    (void)state;
    for (uint32_t image = 1; image <= 2; image++) {
        struct cn_gpu_writer_id by = {CN_TEST_GPU_PID, CN_TEST_GPU_TID, image};

        assert_true(cn_gpu_records_take(r, by, records, &err));
        /* The second program launches everything a second later. */
        for (size_t i = 0; image == 1 && i + 8 <= records.len; i += 8) {
            uint64_t word = cn_u64_get(file + off + i);

            if (word > 9000000 && word < 11000000)
                cn_u64_put(file + off + i, word + 1000000000);
        }
    }
    struct cn_gpu_work *work = cn_gpu_records_finish(r);
    assert_int_equal(work->op_count, 8);
    assert_int_equal(work->stream_count, 1);
    assert_int_equal(work->ops[4].launch_ns - work->ops[0].launch_ns, 1000000000);
    cn_gpu_work_free(work);
    cn_gpu_records_free(r);
    free(file);
}

static void counts_operations_that_begin_before_their_launch(void **state)
{
    struct cn_gpu_work *work = read_changed(
        kernel_off() + 8, 10002000 - CN_TEST_GPU_SHIFT, 9999000 - CN_TEST_GPU_SHIFT);

    (void)state;
    assert_int_equal(work->early_count, 1);
    assert_int_equal(work->early_ns, 1000);
    cn_gpu_work_free(work);
}

static void leaves_out_what_the_gpu_did_not_measure(void **state)
{
    struct cn_gpu_work *work =
        read_changed(kernel_off() + 8, 10002000 - CN_TEST_GPU_SHIFT, 0);

    (void)state;
    assert_int_equal(work->op_count, 3);
    cn_gpu_work_free(work);
}

static void variables_of_modules_are_no_operations(void **state)
{
    size_t len;
    uint8_t *file = cn_test_gpu_file(&len);
    struct cn_gpu_records *r = cn_gpu_records_new(&to_threads);
    struct cn_error err = {0};

    (void)state;
    file[kernel_off() + 0x1c] = CN_GPU_ALLOC;
    file[kernel_off() + 0x1d] = CN_GPU_DEVICE_STATIC;
    assert_true(cn_gpu_records_take_file(r, (struct cn_bytes){file, len}, &err));
    struct cn_gpu_work *work = cn_gpu_records_finish(r);
    assert_int_equal(work->op_count, 3);
    cn_gpu_work_free(work);
    cn_gpu_records_free(r);
    free(file);
}

static void an_end_before_its_begin_is_the_begin(void **state)
{
    struct cn_gpu_work *work = read_changed(
        kernel_off() + 16, 10007000 - CN_TEST_GPU_SHIFT, 10001000 - CN_TEST_GPU_SHIFT);

    (void)state;
    assert_int_equal(work->ops[0].end_ns, 10002000);
    cn_gpu_work_free(work);
}

static void says_where_a_record_is_damaged(void **state)
{
    size_t len;
    uint8_t *file = cn_test_gpu_file(&len);
    struct cn_gpu_records *r = cn_gpu_records_new(&to_threads);
    struct cn_error err = {0};

    (void)state;
    file[cn_test_gpu_records_off()] = 99;
    assert_false(cn_gpu_records_take_file(r, (struct cn_bytes){file, len}, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_string_equal(err.text, "block at 0x40: record at 0x0: no record has type 99");
    cn_gpu_records_free(r);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_below_their_calls),
        cmocka_unit_test(nodes_without_stacks_have_the_time_of_their_call),
        cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(survives_every_flip),
        cmocka_unit_test(programs_of_one_process_are_apart),
        cmocka_unit_test(counts_operations_that_begin_before_their_launch),
        cmocka_unit_test(leaves_out_what_the_gpu_did_not_measure),
        cmocka_unit_test(variables_of_modules_are_no_operations),
        cmocka_unit_test(an_end_before_its_begin_is_the_begin),
        cmocka_unit_test(says_where_a_record_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
