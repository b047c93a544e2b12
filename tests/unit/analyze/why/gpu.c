#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/calls/flows.h"
#include "analyze/why/gpu.h"
#include "model/calls/recording.h"
#include "model/contexts/context.h"
#include "model/gpu/builder.h"

/* Functions, which are also the places of operations. */
enum { STEP, COPY, KERNEL, SYNC, FUNCTIONS };
enum { THREAD = 0, STREAM_TASK = 1, OTHER = 2, TYPICAL = 30, SLOW = 6, PERIOD = 100000 };

static const struct cn_call_function functions[FUNCTIONS] = {
    [STEP] = {.name = "step"},
    [COPY] = {.name = "<gpu copyin>"},
    [KERNEL] = {.name = "scale"},
    [SYNC] = {.name = "<gpu sync>"},
};

static void add_op(struct cn_gpu_builder *b, unsigned kind, uint32_t place,
                   uint64_t launch_ns, uint64_t begin_ns, uint64_t end_ns)
{
    bool is_wait = kind == CN_GPU_SYNC;
    static uint64_t last;

    cn_gpu_builder_launch(b, &(struct cn_gpu_launch){.correlation = ++last,
                                                     .launch_ns = launch_ns,
                                                     .thread = THREAD,
                                                     .path = CN_NONE});
    cn_gpu_builder_op(
        b, 0, last,
        &(struct cn_gpu_op){.kind = (uint8_t)kind,
                            .detail = is_wait ? CN_GPU_SYNC_STREAM : 0,
                            .begin_ns = begin_ns,
                            .end_ns = end_ns,
                            .thread = CN_NONE,
                            .device = 0,
                            .stream =
                                is_wait ? CN_NONE : cn_gpu_builder_stream(b, 1, 0, 1, 7),
                            .place = place,
                            .path = CN_NONE,
                            .shape = CN_NONE});
}

/* A step that begins now: a copy, a kernel after it, and waiting for both. Returns its end. */
static uint64_t add_step(struct cn_gpu_builder *b, uint64_t now_ns, uint64_t copy_ns)
{
    uint64_t end_ns = now_ns + 100 + copy_ns + 50;

    add_op(b, CN_GPU_COPY, COPY, now_ns, now_ns + 100, now_ns + 100 + copy_ns);
    add_op(b, CN_GPU_KERNEL, KERNEL, now_ns + 20, now_ns + 100 + copy_ns, end_ns);
    add_op(b, CN_GPU_SYNC, SYNC, now_ns + 40, now_ns + 40, end_ns);
    return end_ns;
}

struct steps {
    struct cn_recording rec;
    struct cn_task tasks[3];
    struct cn_why why;
    struct cn_why_call calls[TYPICAL + SLOW];
    struct cn_gpu_work *work;
};

static void steps_init(struct steps *s, uint64_t slow_copy_ns)
{
    struct cn_gpu_builder *b = cn_gpu_builder_new();

    *s = (struct steps){0};
    for (unsigned i = 0; i < TYPICAL + SLOW; i++) {
        uint64_t now_ns = (uint64_t)(i + 1) * PERIOD;

        s->calls[i] = (struct cn_why_call){
            .begin_ns = now_ns,
            .end_ns = add_step(b, now_ns, i < TYPICAL ? 200 : slow_copy_ns),
            .task = THREAD};
    }
    cn_gpu_builder_stream_at(b, 0)->thread = STREAM_TASK;
    s->work = cn_gpu_builder_finish(b);
    s->tasks[STREAM_TASK].is_stream = true;
    s->rec = (struct cn_recording){.functions = functions,
                                   .function_count = FUNCTIONS,
                                   .tasks = s->tasks,
                                   .task_count = 3,
                                   .gpu = s->work};
    s->why.groups[CN_WHY_TYPICAL] =
        (struct cn_why_calls){.samples = s->calls, .sample_count = TYPICAL};
    s->why.groups[CN_WHY_SLOW] =
        (struct cn_why_calls){.samples = s->calls + TYPICAL, .sample_count = SLOW};
}

static void what_ran_during_waits_and_what_began_late_are_named(void **state)
{
    struct cn_why_gpu found;
    struct steps s;

    (void)state;
    steps_init(&s, 50200);
    cn_why_gpu_find(&found, &s.why, &s.rec, 50000);
    assert_string_equal(found.ran, "<gpu copyin>");
    assert_int_equal(found.device, 0);
    assert_int_equal((int)found.ran_ns[CN_WHY_TYPICAL], 200);
    assert_int_equal((int)found.ran_ns[CN_WHY_SLOW], 50200);
    assert_string_equal(found.late, "scale");
    assert_int_equal((int)found.late_ns[CN_WHY_TYPICAL], 280);
    assert_int_equal((int)found.late_ns[CN_WHY_SLOW], 50280);
    assert_string_equal(found.before, "<gpu copyin>");
    cn_gpu_work_free(s.work);
}

static void what_explains_little_is_left_out(void **state)
{
    struct cn_why_gpu found;
    struct steps s;

    (void)state;
    steps_init(&s, 600);
    cn_why_gpu_find(&found, &s.why, &s.rec, 50000);
    assert_null(found.ran);
    assert_null(found.late);
    /* Neither without GPU work. */
    s.rec.gpu = NULL;
    cn_why_gpu_find(&found, &s.why, &s.rec, 100);
    assert_null(found.ran);
    cn_gpu_work_free(s.work);
}

static void launches_are_flows(void **state)
{
    const struct cn_flow flows[] = {
        {.from_task = THREAD, .to_task = OTHER, .name = "asks"},
        {.from_task = THREAD, .to_task = STREAM_TASK, .name = "ac2g"}};
    struct cn_flow flow;
    struct steps s;
    uint32_t count = 0;

    (void)state;
    steps_init(&s, 200);
    s.rec.flows = flows;
    s.rec.flow_count = 2;
    assert_int_equal(cn_call_flow_count(&s.rec), 2 + 3 * (TYPICAL + SLOW));
    assert_true(cn_call_flow_at(&s.rec, 0, &flow));
    assert_string_equal(flow.name, "asks");
    assert_false(cn_call_flow_at(&s.rec, 1, &flow)); /* a launch says the same */
    for (uint32_t i = 2; i < cn_call_flow_count(&s.rec); i++)
        if (cn_call_flow_at(&s.rec, i, &flow)) {
            assert_int_equal(flow.from_task, THREAD);
            assert_int_equal(flow.to_task, STREAM_TASK);
            assert_true(flow.from_ns < flow.to_ns);
            count++;
        }
    assert_int_equal(count, 2 * (TYPICAL + SLOW)); /* waits have no stream */
    s.rec.gpu = NULL;
    assert_int_equal(cn_call_flow_count(&s.rec), 2);
    assert_true(cn_call_flow_at(&s.rec, 1, &flow));
    cn_gpu_work_free(s.work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_during_waits_and_what_began_late_are_named),
        cmocka_unit_test(what_explains_little_is_left_out),
        cmocka_unit_test(launches_are_flows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
