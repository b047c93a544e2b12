#include "support/world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

uint32_t cn_world_add_call(struct cn_memory_database *m, uint32_t parent,
                           const char *name)
{
    uint32_t function = cn_memory_database_add_function(
        m, (struct cn_function){.name = name, .module = CN_NONE, .file = CN_NONE});

    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){
                                              .kind = CN_CONTEXT_FUNCTION,
                                              .relation = CN_CALL,
                                              .has_function = true,
                                              .function = function,
                                          });
}

static void add_contexts(struct cn_world *w)
{
    uint32_t file = cn_memory_database_add_file(w->m, "a.c", false);

    w->entry = cn_memory_database_add_context(w->m, 0,
                                              (struct cn_context){
                                                  .kind = CN_CONTEXT_ENTRY,
                                                  .entry = CN_ENTRY_MAIN_THREAD,
                                                  .entry_name = "main thread",
                                              });
    w->main = cn_world_add_call(w->m, w->entry, "main");
    w->work = cn_world_add_call(w->m, w->main, "work");
    w->line = cn_memory_database_add_context(w->m, w->work,
                                             (struct cn_context){
                                                 .kind = CN_CONTEXT_LINE,
                                                 .relation = CN_LEXICAL,
                                                 .has_source = true,
                                                 .file = file,
                                                 .line = 7,
                                             });
    w->leaf = cn_world_add_call(w->m, w->line, "leaf");
    w->again = cn_world_add_call(w->m, w->leaf, "work");
    w->rest = cn_world_add_call(w->m, w->main, "rest");
}

void cn_world_begin(struct cn_world *w)
{
    *w = (struct cn_world){.m = cn_memory_database_new("world", "")};
    (void)cn_memory_database_add_kind(w->m, "THREAD");
    add_contexts(w);
}

uint32_t cn_world_add_thread(struct cn_world *w, const struct cn_sample *samples,
                             size_t count)
{
    uint32_t profile =
        cn_memory_database_add_profile(w->m, (struct cn_identity_tuple){.count = 1});

    for (size_t i = 0; i < count; i++)
        cn_memory_database_add_sample(w->m, profile, samples[i]);
    return profile;
}

void cn_world_finish(struct cn_world *w)
{
    struct cn_error err;

    w->db = cn_memory_database_finish(w->m);
    assert_true(cn_frames_build(&w->frames, w->db, NULL, &err));
}

void cn_world_end(struct cn_world *w)
{
    cn_frames_done(&w->frames);
    cn_database_close(w->db);
}

uint32_t cn_world_add_uneven_thread(struct cn_world *w, size_t count)
{
    struct cn_sample *samples = test_calloc(count, sizeof(*samples));
    const uint32_t contexts[] = {w->work, w->rest, 0, w->leaf, w->main};
    uint64_t time_ns = 1000;
    uint32_t profile;

    for (size_t i = 0; i < count; i++) {
        samples[i] = (struct cn_sample){time_ns, contexts[i * i % 5]};
        time_ns += 1 + i * 7 % 31 + (i % 97 == 0 ? 5000 : 0);
    }
    profile = cn_world_add_thread(w, samples, count);
    test_free(samples);
    return profile;
}
