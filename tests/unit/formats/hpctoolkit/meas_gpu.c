/* GPU samples have no call paths: they are attributed by the call graph of the binary. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analyze/samples/database.h"
#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/meas/profile/profile.h"
#include "model/contexts/walk.h"
#include "support/gpu_run.h"
#include "support/scratch.h"

struct built {
    struct cn_measurements *m;
    struct cn_database *db;
};

static void build(struct built *b, const struct cn_made_run *run, const char *has_calls,
                  const char *even_calls)
{
    struct cn_sampled_options options = {
        .workers = 1, .spool_folder = ".", .is_strict = true};
    const char *dir = "app.m";
    struct cn_text text = {0};
    struct cn_error err = {0};

    (void)mkdir(dir, 0777);
    (void)mkdir("app.m/structs", 0777);
    cn_made_run_add(run, &text);
    cn_scratch_write("app.m/app.hpcrun", text.chars, text.len);
    cn_text_clear(&text);
    cn_gpu_structure_add(&text, has_calls, even_calls);
    cn_scratch_write("app.m/structs/kernels.hpcstruct", text.chars, text.len);
    cn_text_done(&text);
    *b = (struct built){0};
    if (!cn_hpc_meas_open(&b->m, &dir, 1, NULL, &err) ||
        !cn_sampled_database_build(&b->db, b->m, &options, NULL, &err))
        fail_msg("%s", err.text);
}

static void done(struct built *b)
{
    cn_database_close(b->db);
    cn_measurements_close(b->m);
}

static double value_in(const struct built *b, uint32_t profile, uint32_t context,
                       unsigned metric, const char *scope)
{
    const struct cn_metrics *list = &b->db->metrics;
    int id = cn_metric_prop_id(&list->list[metric],
                               (unsigned)cn_metrics_find_scope(list, scope));
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};

    assert_true(cn_profile_values(b->db, profile, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].metric == id)
                return batch.values[i].value;
    return 0;
}

static double value_at(const struct built *b, uint32_t context, unsigned metric,
                       const char *scope)
{
    return value_in(b, 1, context, metric, scope);
}

static const char *name_of(struct cn_database *db, const struct cn_context *context)
{
    struct cn_function function = {.name = ""};
    struct cn_error err = {0};

    if (context->kind != CN_CONTEXT_FUNCTION)
        return "";
    if (!context->has_function)
        return "?";
    assert_true(cn_database_function(db, context->function, &function, &err));
    return function.name;
}

/* The own instructions of the functions at the end of a path of names below a kernel
 * placeholder, as "first/inner"; -1 if there is no such context. */
static double instructions_in(const struct built *b, uint32_t profile, const char *path)
{
    char at[256] = "";
    size_t lens[64] = {0}, depth = 0;
    struct cn_walk walk = {0};
    const struct cn_context *context;
    struct cn_error err = {0};
    enum cn_walk_event event;
    double found = -1;

    assert_true(cn_walk_begin(&walk, b->db, &err));
    while (cn_walk_next(&walk, &event, &context, &err) == CN_ITEM) {
        const char *name;

        if (event != CN_WALK_ENTER) {
            at[lens[--depth]] = '\0';
            continue;
        }
        name = name_of(b->db, context);
        lens[depth++] = strlen(at);
        if (strcmp(name, "<gpu kernel>") == 0)
            continue;
        if (name[0])
            (void)snprintf(at + strlen(at), sizeof(at) - strlen(at), "%s%s",
                           at[0] ? "/" : "", name);
        if (name[0] && strcmp(at, path) == 0)
            found = fmax(found, 0) +
                    value_in(b, profile, context->id, CN_GPU_INSTRUCTIONS, "function");
    }
    cn_walk_done(&walk);
    return found;
}

static double instructions_at(const struct built *b, const char *path)
{
    return instructions_in(b, 1, path);
}

static void check_near(double got, double expected)
{
    if (fabs(got - expected) > 1e-12 * fabs(expected))
        fail_msg("%.17g instead of %.17g", got, expected);
}

static void shares_samples_by_what_calls_have(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    /* 3 of 4 instructions at calls of inner are in first, of which every second launch
     * was sampled. */
    check_near(instructions_at(&b, "first/inner/leaf"), 100 * 0.75 * 2);
    check_near(instructions_at(&b, "second/inner/leaf"), 100 * 0.25);
    check_near(instructions_at(&b, "first/inner"), 8 * 0.75 * 2);
    check_near(instructions_at(&b, "second/inner"), 8 * 0.25);
    check_near(instructions_at(&b, "first"), 3 * 2);
    check_near(instructions_at(&b, "second"), 1);
    done(&b);
}

static void recursion_is_removed(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "first/inner/odd"), 2 * 0.75 * 2);
    check_near(instructions_at(&b, "second/inner/odd"), 2 * 0.25);
    assert_true(instructions_at(&b, "first/inner/even/odd") == -1);
    done(&b);
}

static void kernels_that_were_not_launched_get_no_samples(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "third"), 0); /* a possible path: its context exists */
    assert_true(instructions_at(&b, "third/inner") == -1);
    done(&b);
}

static void splits_evenly_when_no_call_was_sampled(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct built b;

    (void)state;
    run.value_count = 6; /* none at 0x110 and 0x210 */
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "first/inner/leaf"), 100 * 0.5 * 2);
    check_near(instructions_at(&b, "second/inner/leaf"), 100 * 0.5);
    done(&b);
}

static void code_outside_functions_has_no_callers(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    /* An instruction in no scope does not belong to the function above it. */
    assert_true(instructions_at(&b, "?") == 0);
    done(&b);
}

static void without_a_call_graph_nothing_is_guessed(void **state)
{
    static const char *const graphs[][2] = {{"0", "0x600"}, {"1", "0x999"}};
    struct cn_made_run run = cn_gpu_run();

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct built b;

        build(&b, &run, graphs[i][0], graphs[i][1]);
        check_near(instructions_at(&b, "?/leaf"), 100);
        assert_true(instructions_at(&b, "first/inner/leaf") == -1);
        done(&b);
    }
}

static void samples_without_launches_stay(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct built b;

    (void)state;
    run.values += 4;
    run.value_count = 6;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "?/leaf"), 100);
    done(&b);
}

static void nodes_with_children_are_not_spread(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct cn_hpc_run_node own[CN_GPU_NODES];
    struct built b;

    (void)state;
    memcpy(own, run.nodes, sizeof(own));
    own[11].parent = 20; /* not directly after its parent */
    run.nodes = own;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "?/leaf"), 100);
    check_near(instructions_at(&b, "first/inner"), 8 * 0.75 * 2);
    done(&b);
}

static void nothing_is_lost(void **state)
{
    struct cn_made_run run = cn_gpu_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    check_near(value_at(&b, 0, CN_GPU_INSTRUCTIONS, "execution"),
               (100 + 8 + 2) * (0.75 * 2 + 0.25) + 3 * 2 + 1 + 64);
    check_near(value_at(&b, 0, CN_GPU_LAUNCHES, "execution"), 14);
    done(&b);
}

static void a_gpu_context_with_ranges_is_a_thread(void **state)
{
    struct cn_made_run run = cn_gpu_range_run();
    struct cn_profile profile;
    struct cn_error err = {0};
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    assert_int_equal(b.db->profile_count, 3);
    assert_true(cn_database_profile(b.db, 2, &profile, &err));
    assert_int_equal(profile.identity.count, 2);
    assert_int_equal(profile.identity.ids[0].physical, 0xa);
    assert_string_equal(b.db->kinds.list[profile.identity.ids[1].kind], "GPUCONTEXT");
    assert_int_equal(profile.identity.ids[1].physical, 7);
    assert_true(profile.identity.ids[1].is_physical);
    check_near(value_in(&b, 2, 0, CN_GPU_LAUNCHES, "execution"), 21);
    check_near(value_in(&b, 1, 0, CN_GPU_LAUNCHES, "execution"), 0);
    done(&b);
}

static void samples_of_a_range_are_shared_among_its_launches(void **state)
{
    struct cn_made_run run = cn_gpu_range_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    /* Two call sites launched first, 5 launches each with samples; at one of them every
     * second launch was sampled. */
    check_near(instructions_in(&b, 2, "first/inner/leaf"),
               100 * 0.75 * (0.5 * 2 + 0.5 * 1));
    check_near(instructions_in(&b, 2, "second/inner/leaf"), 100 * 0.25);
    check_near(instructions_in(&b, 2, "first"), 3 * (0.5 * 2 + 0.5 * 1));
    assert_true(instructions_in(&b, 2, "third") == -1);
    done(&b);
}

static void samples_of_a_range_without_launches_stay(void **state)
{
    struct cn_made_run run = cn_gpu_range_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    check_near(instructions_in(&b, 2, "leaf"), 50);
    done(&b);
}

/* Samples of the trace at these nodes, at times from 1 on. */
static void write_trace(const uint32_t *nodes, size_t count)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_HPC_TRACE_MAGIC CN_HPC_TRACE_VERSION "b");
    cn_put_u64_be(&text, 0);
    for (size_t i = 0; i < count; i++) {
        cn_put_u64_be(&text, i + 1);
        cn_put_u32_be(&text, nodes[i]);
    }
    (void)mkdir("app.m", 0777);
    cn_scratch_write("app.m/app.hpctrace", text.chars, text.len);
    cn_text_done(&text);
}

static void traces_leave_out_samples_with_several_paths(void **state)
{
    static const uint32_t spread[] = {6, 20, 6}, in_range[] = {6, 66, 42, 6};
    struct cn_made_run runs[] = {cn_gpu_run(), cn_gpu_range_run()};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct cn_timeline timeline;
        struct cn_error err = {0};
        struct built b;

        write_trace(i == 0 ? spread : in_range, i == 0 ? 3 : 4);
        build(&b, &runs[i], "1", "0x600");
        assert_true(cn_timeline_open(b.db, 1, &timeline, &err));
        assert_int_equal(timeline.count, 2);
        done(&b);
    }
}

static void misplaced_nodes_of_ranges_are_refused(void **state)
{
    static const struct {
        size_t node;
        uint32_t parent;
    } wrong[] = {{16, 6}, {17, 4}, {18, 60}, {19, 62}, {6, 10}, {23, 68}, {23, 60}};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct cn_hpc_run_node own[CN_GPU_RANGE_NODES];
        struct cn_made_run run = cn_gpu_range_run();
        struct cn_sampled_profile profile = {0};
        struct cn_text text = {0};
        struct cn_error err = {0};

        memcpy(own, run.nodes, sizeof(own));
        own[wrong[i].node].parent = wrong[i].parent;
        run.nodes = own;
        cn_made_run_add(&run, &text);
        assert_false(cn_hpc_profile_decode(
            (struct cn_bytes){(const uint8_t *)text.chars, text.len},
            (struct cn_bytes){0}, &profile, &err));
        assert_int_equal(err.kind, CN_ERR_FORMAT);
        cn_hpc_profile_done(&profile);
        cn_text_done(&text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(shares_samples_by_what_calls_have),
        CN_SCRATCH_TEST(recursion_is_removed),
        CN_SCRATCH_TEST(kernels_that_were_not_launched_get_no_samples),
        CN_SCRATCH_TEST(splits_evenly_when_no_call_was_sampled),
        CN_SCRATCH_TEST(code_outside_functions_has_no_callers),
        CN_SCRATCH_TEST(without_a_call_graph_nothing_is_guessed),
        CN_SCRATCH_TEST(samples_without_launches_stay),
        CN_SCRATCH_TEST(nodes_with_children_are_not_spread),
        CN_SCRATCH_TEST(nothing_is_lost),
        CN_SCRATCH_TEST(a_gpu_context_with_ranges_is_a_thread),
        CN_SCRATCH_TEST(samples_of_a_range_are_shared_among_its_launches),
        CN_SCRATCH_TEST(samples_of_a_range_without_launches_stay),
        CN_SCRATCH_TEST(traces_leave_out_samples_with_several_paths),
        CN_SCRATCH_TEST(misplaced_nodes_of_ranges_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
