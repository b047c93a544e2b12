#include "analyze/views/code_costs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/contexts/memory.h"
#include "model/contexts/points.h"

/* A program with a function, a function inlined there, and two threads. */
struct program {
    struct cn_memory_database *m;
    struct cn_database *db;
    uint32_t module, function, inlined;
    uint32_t at_function, at_inlined; /* contexts */
    struct cn_costs costs;
    struct cn_context_index index;
};

static void begin(struct program *p)
{
    *p = (struct program){.m = cn_memory_database_new("title", "")};
    cn_memory_database_add_usual_scopes(p->m);
    (void)cn_memory_database_add_kind(p->m, "SUMMARY");
    (void)cn_memory_database_add_kind(p->m, "THREAD");
    (void)cn_memory_database_add_usual_metric(p->m, "cycles");
    p->module = cn_memory_database_add_module(p->m, "/bin/program");
    p->function = cn_memory_database_add_function(
        p->m, (struct cn_function){
                  .name = "hot", .module = p->module, .offset = 0x100, .file = CN_NONE});
    p->inlined = cn_memory_database_add_function(
        p->m, (struct cn_function){
                  .name = "small", .module = p->module, .offset = 0, .file = CN_NONE});
    for (uint32_t i = 0; i < 2; i++)
        (void)cn_memory_database_add_profile(
            p->m,
            (struct cn_identity_tuple){.count = 1, .ids = {{.kind = 1, .logical = i}}});
    p->at_function = cn_memory_database_add_context(
        p->m, 0,
        (struct cn_context){.kind = CN_CONTEXT_ENTRY, .entry_name = "main thread"});
    p->at_function =
        cn_memory_database_add_context(p->m, p->at_function,
                                       (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                                           .relation = CN_CALL,
                                                           .has_function = true,
                                                           .function = p->function});
    p->at_inlined =
        cn_memory_database_add_context(p->m, p->at_function,
                                       (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                                           .relation = CN_INLINED_CALL,
                                                           .has_function = true,
                                                           .function = p->inlined});
}

static void finish(struct program *p, const char *threads)
{
    struct cn_cost_request request = {
        .metric = "cycles", .side = CN_SELF, .profile = CN_NONE};
    struct cn_error err;

    assert_true(cn_memory_database_propagate(p->m, &err));
    p->db = cn_memory_database_finish(p->m);
    cn_costs_init(&p->costs, p->db);
    assert_true(!threads || cn_costs_select(&p->costs, threads, &err));
    assert_true(cn_costs_add(&p->costs, &request, &err));
    assert_true(cn_costs_ready(&p->costs, &err));
    assert_true(cn_context_index_build(&p->index, p->db, &err));
}

static void end(struct program *p)
{
    cn_context_index_done(&p->index);
    cn_costs_done(&p->costs);
    cn_database_close(p->db);
}

static double cost_of(const struct cn_code_costs *costs, uint64_t offset, bool is_inlined)
{
    double sum = 0;

    for (size_t i = 0; i < costs->count; i++)
        if (costs->list[i].offset == offset && costs->list[i].is_inlined == is_inlined)
            sum += costs->list[i].value;
    return sum;
}

static void find(struct program *p, struct cn_code_costs *out)
{
    struct cn_code_range range = {p->module, 0x100, 0x110};
    struct cn_error err;
    bool exist;

    assert_true(cn_code_costs_exist(p->db, &p->index, &exist, &err));
    assert_true(exist);
    assert_true(cn_code_costs_find(out, &p->costs, &p->index, 0, range, &err));
}

/* A sample counts for its context and its instruction. */
static void add_sample(struct program *p, uint32_t profile, uint32_t context,
                       uint64_t offset, double value)
{
    struct cn_points *points = cn_memory_database_points(p->m);

    cn_memory_database_add_value(p->m, profile, context, 0, value);
    cn_points_add(points,
                  cn_points_at(points, (struct cn_point){offset, p->module, context}),
                  profile, 0, value);
}

static void make_samples(struct program *p, const char *threads)
{
    begin(p);
    add_sample(p, 1, p->at_function, 0x104, 10);
    add_sample(p, 2, p->at_function, 0x104, 5);
    add_sample(p, 1, p->at_inlined, 0x108, 3);
    add_sample(p, 1, p->at_function, 0x110, 100); /* of the next function */
    finish(p, threads);
}

static void samples_count_for_their_instruction(void **state)
{
    struct cn_code_costs found;
    struct program p;

    (void)state;
    make_samples(&p, NULL);
    find(&p, &found);
    assert_int_equal(found.count, 2);
    assert_true(cost_of(&found, 0x104, false) == 15);
    assert_true(cost_of(&found, 0x108, true) == 3);
    cn_code_costs_done(&found);
    end(&p);
}

static void only_selected_threads_count(void **state)
{
    struct cn_code_costs found;
    struct program p;

    (void)state;
    make_samples(&p, "THREAD 1");
    find(&p, &found);
    assert_true(cost_of(&found, 0x104, false) == 5);
    assert_true(cost_of(&found, 0x108, true) == 0);
    cn_code_costs_done(&found);
    end(&p);
}

/* As in databases of HPCToolkit. */
static void contexts_that_are_instructions_count(void **state)
{
    struct cn_code_costs found;
    struct program p;

    (void)state;
    begin(&p);
    for (uint64_t i = 0; i < 2; i++)
        cn_memory_database_add_value(
            p.m, 1,
            cn_memory_database_add_context(
                p.m, i ? p.at_inlined : p.at_function,
                (struct cn_context){.kind = CN_CONTEXT_INSTRUCTION,
                                    .relation = CN_LEXICAL,
                                    .propagation = 1,
                                    .has_point = true,
                                    .module = p.module,
                                    .offset = 0x104 + 4 * i}),
            0, 7 + (double)i);
    finish(&p, NULL);
    find(&p, &found);
    assert_int_equal(found.count, 2);
    assert_true(cost_of(&found, 0x104, false) == 7);
    assert_true(cost_of(&found, 0x108, true) == 8);
    cn_code_costs_done(&found);
    end(&p);
}

static void others_have_no_costs_of_instructions(void **state)
{
    struct cn_error err;
    struct program p;
    bool exist;

    (void)state;
    begin(&p);
    cn_memory_database_add_value(p.m, 1, p.at_function, 0, 1);
    finish(&p, NULL);
    assert_true(cn_code_costs_exist(p.db, &p.index, &exist, &err));
    assert_false(exist);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_count_for_their_instruction),
        cmocka_unit_test(only_selected_threads_count),
        cmocka_unit_test(contexts_that_are_instructions_count),
        cmocka_unit_test(others_have_no_costs_of_instructions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
