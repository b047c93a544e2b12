#include "support/sample.h"

#include <stdlib.h>

#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/memory.h"
#include "open/formats.h"

enum { KIND_SUMMARY, KIND_NODE, KIND_RANK, KIND_THREAD, HOST = 0x7f0101 };
enum { CPUTIME_POINT = 0, CYCLES_POINT = 4 };
#define FIRST_NS UINT64_C(1700000000000000000)

struct tables {
    uint32_t program, library;
    uint32_t heat_c, fib_h, odd_path;
    uint32_t main, solve, fib, odd, anonymous, thread_start;
};

/* Contexts that get values. */
struct places {
    uint32_t main_line, outer_line, inner_hidden, inner_line, inlined_line, fib_line;
    uint32_t fib_again_hidden, call_instruction, unknown, thread_line, anonymous_line;
    uint32_t solve_in_thread;
};

static void add_tables(struct cn_memory_database *m, struct tables *t)
{
    static const char *const kinds[] = {"SUMMARY",   "NODE",       "RANK",      "THREAD",
                                        "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        (void)cn_memory_database_add_kind(m, kinds[i]);
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "CPUTIME (sec)");
    (void)cn_memory_database_add_usual_metric(m, "cycles");
    t->program = cn_memory_database_add_module(m, "/opt/heat/bin/heat");
    t->library = cn_memory_database_add_module(m, "/lib/x86_64-linux-gnu/libc.so.6");
    t->heat_c = cn_memory_database_add_file(m, "/opt/heat/src/heat.c", false);
    t->fib_h = cn_memory_database_add_file(m, "/opt/heat/src/fib.h", false);
    t->odd_path = cn_memory_database_add_file(m, "/opt/heat/a, \"b\"/c d.h", false);
}

static void add_functions(struct cn_memory_database *m, struct tables *t)
{
    t->main = cn_memory_database_add_function(
        m, (struct cn_function){"main", t->program, 0x1000, t->heat_c, 5});
    t->solve = cn_memory_database_add_function(
        m, (struct cn_function){"solve", t->program, 0x1100, t->heat_c, 18});
    t->fib = cn_memory_database_add_function(
        m, (struct cn_function){"fib(unsigned long)", t->program, 0x1200, t->fib_h, 3});
    t->odd = cn_memory_database_add_function(
        m, (struct cn_function){"say<\"a, b\", 'c'>\x1b[31m(\xc3\xbc\xe2\x82\xac)",
                                CN_NONE, 0, t->odd_path, 2});
    t->anonymous = cn_memory_database_add_function(
        m, (struct cn_function){"", t->library, 0x2f00, CN_NONE, 0});
    t->thread_start = cn_memory_database_add_function(
        m, (struct cn_function){"start_thread", t->library, 0x3000, CN_NONE, 0});
}

static uint32_t entry(struct cn_memory_database *m, enum cn_entry which, const char *name)
{
    return cn_memory_database_add_context(m, 0,
                                          (struct cn_context){
                                              .kind = CN_CONTEXT_ENTRY,
                                              .entry = (uint16_t)which,
                                              .entry_name = name,
                                          });
}

static uint32_t call(struct cn_memory_database *m, uint32_t parent, uint32_t function,
                     enum cn_relation relation)
{
    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){
                                              .kind = CN_CONTEXT_FUNCTION,
                                              .relation = (uint8_t)relation,
                                              .has_function = function != CN_NONE,
                                              .function = function,
                                          });
}

static uint32_t place(struct cn_memory_database *m, uint32_t parent,
                      enum cn_context_kind kind, uint32_t file, uint32_t line)
{
    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){
                                              .kind = (uint8_t)kind,
                                              .relation = CN_LEXICAL,
                                              .propagation = 1,
                                              .has_source = true,
                                              .file = file,
                                              .line = line,
                                          });
}

/* A loop found in the binary: it knows its source line and its address. */
static uint32_t binary_loop(struct cn_memory_database *m, uint32_t parent,
                            const struct tables *t, uint32_t line, uint64_t offset)
{
    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){
                                              .kind = CN_CONTEXT_LOOP,
                                              .relation = CN_LEXICAL,
                                              .propagation = 1,
                                              .has_source = true,
                                              .file = t->heat_c,
                                              .line = line,
                                              .has_point = true,
                                              .module = t->program,
                                              .offset = offset,
                                          });
}

static uint32_t instruction(struct cn_memory_database *m, uint32_t parent,
                            uint32_t module, uint64_t offset)
{
    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){
                                              .kind = CN_CONTEXT_INSTRUCTION,
                                              .relation = CN_CALL,
                                              .has_point = true,
                                              .module = module,
                                              .offset = offset,
                                          });
}

/* solve(): a loop nest, with an inlined call in its inner loop. */
static void add_solve(struct cn_memory_database *m, const struct tables *t,
                      uint32_t caller, struct places *p)
{
    uint32_t solve = call(m, caller, t->solve, CN_CALL);
    uint32_t outer = binary_loop(m, solve, t, 20, 0x1120);
    uint32_t inner, inlined;

    p->outer_line = place(m, outer, CN_CONTEXT_LINE, t->heat_c, 22);
    inner = binary_loop(m, outer, t, 24, 0x1140);
    p->inner_line = place(m, inner, CN_CONTEXT_LINE, t->heat_c, 25);
    p->inner_hidden = cn_memory_database_add_hidden(m, p->inner_line);
    inlined = call(m, p->inner_line, t->odd, CN_INLINED_CALL);
    p->inlined_line = place(m, inlined, CN_CONTEXT_LINE, t->odd_path, 2);
}

static void add_fib(struct cn_memory_database *m, const struct tables *t, uint32_t caller,
                    struct places *p)
{
    uint32_t fib = call(m, caller, t->fib, CN_CALL);
    uint32_t again;

    p->fib_line = place(m, fib, CN_CONTEXT_LINE, t->fib_h, 4);
    again = call(m, p->fib_line, t->fib, CN_CALL);
    again = place(m, again, CN_CONTEXT_LINE, t->fib_h, 4);
    again = call(m, again, t->fib, CN_CALL);
    again = place(m, again, CN_CONTEXT_LINE, t->fib_h, 5);
    p->fib_again_hidden = cn_memory_database_add_hidden(m, again);
}

static void add_contexts(struct cn_memory_database *m, const struct tables *t,
                         struct places *p)
{
    uint32_t main_thread = entry(m, CN_ENTRY_MAIN_THREAD, "main thread");
    uint32_t other_thread = entry(m, CN_ENTRY_APPLICATION_THREAD, "application thread");
    uint32_t main = call(m, main_thread, t->main, CN_CALL);
    uint32_t start = call(m, other_thread, t->thread_start, CN_CALL);
    uint32_t anonymous;
    struct places in_thread = {0};

    p->main_line = place(m, main, CN_CONTEXT_LINE, t->heat_c, 10);
    add_solve(m, t, p->main_line, p);
    add_fib(m, t, place(m, main, CN_CONTEXT_LINE, t->heat_c, 12), p);
    p->call_instruction = instruction(m, p->main_line, t->library, 0x2f10);
    p->unknown = call(m, p->call_instruction, CN_NONE, CN_CALL);
    p->thread_line = instruction(m, start, t->library, 0x3040);
    anonymous = call(m, p->thread_line, t->anonymous, CN_CALL);
    p->anonymous_line = instruction(m, anonymous, t->library, 0x2f44);
    add_solve(m, t, p->anonymous_line, &in_thread);
    p->solve_in_thread = in_thread.inner_hidden;
}

static uint32_t add_thread(struct cn_memory_database *m, uint32_t rank, uint32_t thread)
{
    return cn_memory_database_add_profile(
        m, (struct cn_identity_tuple){
               .count = 3,
               .ids = {{KIND_NODE, true, 0, HOST},
                       {KIND_RANK, false, rank, rank},
                       {KIND_THREAD, false, thread, thread}},
           });
}

static void add_main_values(struct cn_memory_database *m, uint32_t profile,
                            const struct places *p, double scale)
{
    const struct {
        uint32_t context;
        double seconds;
    } list[] = {
        {p->inner_hidden, 4.5},  {p->inner_line, 0.25},  {p->outer_line, 0.75},
        {p->inlined_line, 1.25}, {p->fib_line, 0.5},     {p->fib_again_hidden, 2.0},
        {p->unknown, 0.125},     {p->main_line, 0.0625},
    };

    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
        double seconds = list[i].seconds * scale;

        cn_memory_database_add_value(m, profile, list[i].context, CPUTIME_POINT, seconds);
        if (i % 3 != 1)
            cn_memory_database_add_value(m, profile, list[i].context, CYCLES_POINT,
                                         seconds * 2e9);
    }
}

static void add_samples(struct cn_memory_database *m, uint32_t profile,
                        const uint32_t *contexts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cn_memory_database_add_sample(
            m, profile,
            (struct cn_sample){FIRST_NS + profile * 1000 + i * 5000000, contexts[i]});
}

static void add_threads(struct cn_memory_database *m, const struct places *p)
{
    const uint32_t main_line[] = {p->main_line,
                                  p->outer_line,
                                  p->inner_line,
                                  p->inner_line,
                                  0,
                                  p->fib_line,
                                  p->inlined_line,
                                  0};
    const uint32_t thread_line[] = {0, p->anonymous_line, p->thread_line};

    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t main = add_thread(m, rank, 0);
        uint32_t other = add_thread(m, rank, 1);

        add_main_values(m, main, p, rank + 1);
        cn_memory_database_add_value(m, other, p->solve_in_thread, CPUTIME_POINT,
                                     3.0 + rank);
        cn_memory_database_add_value(m, other, p->thread_line, CYCLES_POINT, 1e6);
        add_samples(m, main, main_line, sizeof(main_line) / sizeof(*main_line));
        if (rank == 0)
            add_samples(m, other, thread_line,
                        sizeof(thread_line) / sizeof(*thread_line));
    }
}

struct cn_database *cn_sample_database(void)
{
    struct cn_memory_database *m =
        cn_memory_database_new("heat", "A small database with *one of everything*.");
    struct tables tables;
    struct places places;
    struct cn_error err = {0};

    add_tables(m, &tables);
    add_functions(m, &tables);
    add_contexts(m, &tables, &places);
    add_threads(m, &places);
    /* The formulas are those of cn_memory_database_add_usual_metric(). */
    if (!cn_memory_database_propagate(m, &err))
        abort();
    return cn_memory_database_finish(m);
}

bool cn_sample_write(const char *path, struct cn_error *err)
{
    struct cn_database *db = cn_sample_database();
    bool ok = cn_hpc_v4_write(db, path, &(struct cn_write_options){0}, err);

    cn_database_close(db);
    return ok;
}
