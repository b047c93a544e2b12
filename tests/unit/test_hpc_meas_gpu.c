/* GPU samples, which have no call paths, are put where the call graph says that they can
 * have come from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analyze/sampled_database.h"
#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/meas/placeholders.h"
#include "model/walk.h"
#include "support/made_run.h"
#include "support/scratch.h"

enum { LAUNCHES, SAMPLED, INSTRUCTIONS, SECONDS, METRICS };
enum { UNWOUND = CN_HPC_NODE_UNWOUND };

#define KERNELS CN_HPC_CODE('G', 'P', 'U', 'K', 'e', 'r', 'n', 'l')

static const char *const modules[] = {"/opt/bin/app", "gpubins/kernels.gpubin"};
static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
static const struct cn_made_id ids[] = {{3, 3, 0, 0}};
static const struct cn_made_metric metrics[METRICS] = {
    {"GKER:COUNT", NULL, CN_HPC_VALUES_INTEGER, true, 1},
    {"GKER:SAMPLED_COUNT", NULL, CN_HPC_VALUES_INTEGER, true, 1},
    {"GINS", NULL, CN_HPC_VALUES_INTEGER, false, 1},
    {"GKER (sec)", NULL, CN_HPC_VALUES_DOUBLE, true, 1},
};

/* first, second and third are kernels; all call inner, which calls leaf and the two that
 * call each other. */
static const char structure[] =
    "<?xml version=\"1.0\"?>\n"
    "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">\n"
    "<LM i=\"2\" n=\"gpubins/kernels.gpubin\" has-calls=\"%s\" v=\"{}\"><F n=\"/k.cu\">\n"
    "<P n=\"first\" l=\"1\" v=\"{[0x100-0x101)}\"><S l=\"1\" v=\"{[0x100-0x110)}\"/>\n"
    "<C l=\"2\" v=\"{[0x110-0x118)}\" t=\"0x300\"/></P>\n"
    "<P n=\"second\" l=\"5\" v=\"{[0x200-0x201)}\"><S l=\"5\" v=\"{[0x200-0x210)}\"/>\n"
    "<C l=\"6\" v=\"{[0x210-0x218)}\" t=\"0x300\"/></P>\n"
    "<P n=\"third\" l=\"8\" v=\"{[0x280-0x281)}\"><S l=\"8\" v=\"{[0x280-0x290)}\"/>\n"
    "<C l=\"8\" v=\"{[0x290-0x298)}\" t=\"0x300\"/></P>\n"
    "<P n=\"inner\" l=\"10\" v=\"{[0x300-0x301)}\"><S l=\"10\" v=\"{[0x300-0x310)}\"/>\n"
    "<C l=\"11\" v=\"{[0x310-0x318)}\" t=\"0x400\"/>\n"
    "<C l=\"12\" v=\"{[0x318-0x320)}\" t=\"0x500\"/><C l=\"13\" "
    "v=\"{[0x320-0x328)}\"/></P>\n"
    "<P n=\"leaf\" l=\"20\" v=\"{[0x400-0x401)}\"><S l=\"20\" "
    "v=\"{[0x400-0x410)}\"/></P>\n"
    "<P n=\"even\" l=\"30\" v=\"{[0x500-0x501)}\"><S l=\"30\" v=\"{[0x500-0x510)}\"/>\n"
    "<C l=\"31\" v=\"{[0x510-0x518)}\" t=\"%s\"/></P>\n"
    "<P n=\"odd\" l=\"40\" v=\"{[0x600-0x601)}\"><S l=\"40\" v=\"{[0x600-0x610)}\"/>\n"
    "<C l=\"41\" v=\"{[0x610-0x618)}\" t=\"0x500\"/></P>\n"
    "</F></LM></HPCToolkitStructure>\n";

static const struct cn_hpc_run_node nodes[] = {
    {2, 0, 0, CN_HPC_CODE_ROOT, UNWOUND},
    {4, 2, 0, CN_HPC_CODE_MAIN, UNWOUND},
    {6, 4, 1, 0x10, UNWOUND},
    {8, 6, 0, KERNELS, UNWOUND},
    {10, 8, 2, 0x100, UNWOUND},
    {12, 8, 2, 0x200, UNWOUND},
    {20, 8, 2, 0x404, 0},
    {22, 8, 2, 0x304, 0},
    {24, 8, 2, 0x110, 0},
    {26, 8, 2, 0x210, 0},
    {28, 8, 2, 0x604, 0},
    {30, 8, 2, 0x700, 0},
};

static const struct cn_made_value values[] = {
    {10, LAUNCHES, 10},     {10, SAMPLED, 5},        {10, SECONDS, 0.5},
    {12, LAUNCHES, 4},      {20, INSTRUCTIONS, 100}, {22, INSTRUCTIONS, 8},
    {24, INSTRUCTIONS, 3},  {26, INSTRUCTIONS, 1},   {28, INSTRUCTIONS, 2},
    {30, INSTRUCTIONS, 64},
};

static struct cn_made_run whole_run(void)
{
    return (struct cn_made_run){
        .program = "app",
        .modules = modules,
        .module_count = 2,
        .nodes = nodes,
        .node_count = sizeof(nodes) / sizeof(*nodes),
        .metrics = metrics,
        .metric_count = METRICS,
        .kinds = kinds,
        .kind_count = 4,
        .ids = ids,
        .id_count = 1,
        .values = values,
        .value_count = sizeof(values) / sizeof(*values),
    };
}

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
    cn_text_printf(&text, structure, has_calls, even_calls);
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

static double value_at(const struct built *b, uint32_t context, unsigned metric,
                       const char *scope)
{
    const struct cn_metrics *list = &b->db->metrics;
    int id = cn_metric_prop_id(&list->list[metric],
                               (unsigned)cn_metrics_find_scope(list, scope));
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};

    assert_true(cn_profile_values(b->db, 1, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].metric == id)
                return batch.values[i].value;
    return 0;
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

/* The own instructions of the function at the end of a path of names below the kernel
 * placeholder, as "first/inner"; -1 when there is no such context. */
static double instructions_at(const struct built *b, const char *path)
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
            found = value_at(b, context->id, INSTRUCTIONS, "function");
    }
    cn_walk_done(&walk);
    return found;
}

static void check_near(double got, double expected)
{
    if (fabs(got - expected) > 1e-12 * fabs(expected))
        fail_msg("%.17g instead of %.17g", got, expected);
}

static void shares_samples_by_what_calls_have(void **state)
{
    struct cn_made_run run = whole_run();
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

static void recursion_is_taken_out(void **state)
{
    struct cn_made_run run = whole_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "first/inner/odd"), 2 * 0.75 * 2);
    check_near(instructions_at(&b, "second/inner/odd"), 2 * 0.25);
    assert_true(instructions_at(&b, "first/inner/even/odd") == -1);
    done(&b);
}

static void kernels_that_were_not_launched_have_no_part(void **state)
{
    struct cn_made_run run = whole_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "third"),
               0); /* it could have been: its context is made */
    assert_true(instructions_at(&b, "third/inner") == -1);
    done(&b);
}

static void splits_evenly_when_no_call_was_sampled(void **state)
{
    struct cn_made_run run = whole_run();
    struct built b;

    (void)state;
    run.value_count = 6; /* none at 0x110 and 0x210 */
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "first/inner/leaf"), 100 * 0.5 * 2);
    check_near(instructions_at(&b, "second/inner/leaf"), 100 * 0.5);
    done(&b);
}

static void code_outside_functions_is_called_by_nobody_known(void **state)
{
    struct cn_made_run run = whole_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    /* An instruction that no scope holds does not belong to the function above it. */
    assert_true(instructions_at(&b, "?") == 0);
    done(&b);
}

static void without_a_call_graph_nothing_is_guessed(void **state)
{
    static const char *const graphs[][2] = {{"0", "0x600"}, {"1", "0x999"}};
    struct cn_made_run run = whole_run();

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
    struct cn_made_run run = whole_run();
    struct built b;

    (void)state;
    run.values = values + 4;
    run.value_count = 6;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "?/leaf"), 100);
    done(&b);
}

static void nodes_with_children_are_not_spread(void **state)
{
    struct cn_hpc_run_node own[sizeof(nodes) / sizeof(*nodes)];
    struct cn_made_run run = whole_run();
    struct built b;

    (void)state;
    memcpy(own, nodes, sizeof(own));
    own[11].parent = 20; /* not right behind its parent */
    run.nodes = own;
    build(&b, &run, "1", "0x600");
    check_near(instructions_at(&b, "?/leaf"), 100);
    check_near(instructions_at(&b, "first/inner"), 8 * 0.75 * 2);
    done(&b);
}

static void nothing_is_lost(void **state)
{
    struct cn_made_run run = whole_run();
    struct built b;

    (void)state;
    build(&b, &run, "1", "0x600");
    check_near(value_at(&b, 0, INSTRUCTIONS, "execution"),
               (100 + 8 + 2) * (0.75 * 2 + 0.25) + 3 * 2 + 1 + 64);
    check_near(value_at(&b, 0, LAUNCHES, "execution"), 14);
    done(&b);
}

static int enter(void **state)
{
    *state = cn_scratch_enter();
    return 0;
}

static int leave(void **state)
{
    cn_scratch_leave(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(shares_samples_by_what_calls_have),
        TEST(recursion_is_taken_out),
        TEST(kernels_that_were_not_launched_have_no_part),
        TEST(splits_evenly_when_no_call_was_sampled),
        TEST(code_outside_functions_is_called_by_nobody_known),
        TEST(without_a_call_graph_nothing_is_guessed),
        TEST(samples_without_launches_stay),
        TEST(nodes_with_children_are_not_spread),
        TEST(nothing_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
