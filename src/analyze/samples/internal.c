#include "analyze/samples/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

bool cn_sampled_is_wanted(const struct cn_sampled_options *options,
                          const struct cn_sampled_profile *profile)
{
    struct cn_bytes name = profile->program_path;
    size_t start = name.len;

    if (options->only_program_count == 0)
        return true;
    while (start > 0 && name.ptr[start - 1] != '/')
        start--;
    (void)cn_bytes_slice(name, start, name.len - start, &name);
    for (size_t i = 0; i < options->only_program_count; i++)
        if (cn_bytes_equal(name, options->only_programs[i]))
            return true;
    return false;
}

void cn_sampled_thread_identify(struct cn_sampled_database *self,
                                struct cn_sampled_thread *thread,
                                const struct cn_identity *ids, size_t count)
{
    thread->ids = cn_arena_alloc(&self->thread_arena, count, sizeof(*thread->ids));
    thread->id_count = (uint32_t)count;
    memcpy(thread->ids, ids, count * sizeof(*ids));
}

/* Dense numbers for those numbers of the measurements that contexts use, in the order of their
 * use. */
struct sample_numbering {
    uint32_t *used, *numbers; /* dense -> given, given -> dense */
    size_t used_count, used_capacity;
    size_t number_count, number_capacity;
};

static void use(struct sample_numbering *numbering, uint32_t given)
{
    if (given == CN_NONE)
        return;
    CN_GROW_TO(numbering->numbers, (size_t)given + 1, numbering->number_capacity);
    while (numbering->number_count <= given)
        numbering->numbers[numbering->number_count++] = CN_NONE;
    if (numbering->numbers[given] != CN_NONE)
        return;
    numbering->numbers[given] = (uint32_t)numbering->used_count;
    CN_PUSH(numbering->used, numbering->used_count, numbering->used_capacity, given);
}

static void number_tables(struct cn_sampled_database *self)
{
    struct sample_numbering modules = {0}, files = {0}, functions = {0};

    for (uint32_t i = 1; i < self->contexts.count; i++) {
        const struct cn_sampled_context *context =
            cn_sampled_context_at(&self->contexts, i);
        struct cn_function function;

        use(&modules, context->module);
        use(&files, context->file);
        if (context->function == CN_NONE)
            continue;
        use(&functions, context->function);
        cn_measurements_function(self->measurements, context->function, &function);
        use(&modules, function.module);
        use(&files, function.file);
    }
    self->modules = modules.used;
    self->module_numbers = modules.numbers;
    self->files = files.used;
    self->file_numbers = files.numbers;
    self->functions = functions.used;
    self->function_numbers = functions.numbers;
    self->db.module_count = (uint32_t)modules.used_count;
    self->db.file_count = (uint32_t)files.used_count;
    self->db.function_count = (uint32_t)functions.used_count;
}

/* The nearest context above that is shown. */
static uint32_t shown_parent(const struct cn_sampled_contexts *contexts, uint32_t id)
{
    uint32_t parent = cn_sampled_context_at(contexts, id)->parent;

    return cn_sampled_context_is_hidden(cn_sampled_context_at(contexts, parent))
               ? cn_sampled_context_at(contexts, parent)->parent
               : parent;
}

static void list_children(struct cn_sampled_database *self)
{
    const struct cn_sampled_contexts *contexts = &self->contexts;
    uint32_t count = (uint32_t)contexts->count, start = 0;
    uint32_t *next = cn_alloc(count, sizeof(*next));

    self->child_ends = cn_alloc(count, sizeof(*self->child_ends));
    self->children = cn_alloc(count, sizeof(*self->children));
    for (uint32_t id = 1; id < count; id++)
        if (!cn_sampled_context_is_hidden(cn_sampled_context_at(contexts, id)))
            next[shown_parent(contexts, id)]++;
    for (uint32_t id = 0; id < count; id++) {
        uint32_t own = next[id];

        next[id] = start;
        start += own;
        self->child_ends[id] = start;
    }
    for (uint32_t id = 1; id < count; id++)
        if (!cn_sampled_context_is_hidden(cn_sampled_context_at(contexts, id)))
            self->children[next[shown_parent(contexts, id)]++] = id;
    free(next);
}

static bool map_spool(struct cn_sampled_database *self, const uint64_t *lens,
                      struct cn_error *err)
{
    const struct cn_spool *spool = &self->spool;
    bool ok = true;

    self->maps = cn_alloc(spool->count, sizeof(*self->maps));
    for (unsigned i = 0; ok && i < spool->count; i++) {
        self->map_count++;
        if (lens[i] == 0)
            continue;
        void *map = mmap(NULL, (size_t)lens[i], PROT_READ, MAP_SHARED, spool->fds[i], 0);
        if (map == MAP_FAILED)
            ok = cn_fail_errno(err, "%s: temporary file", spool->folder);
        else
            self->maps[i] = (struct cn_bytes){map, (size_t)lens[i]};
    }
    return ok;
}

bool cn_sampled_database_complete(struct cn_sampled_database *self, const uint64_t *lens,
                                  struct cn_error *err)
{
    struct cn_database *db = &self->db;

    number_tables(self);
    list_children(self);
    if (!map_spool(self, lens, err))
        return false;
    db->kinds =
        (struct cn_kinds){self->identities.kinds.list, self->identities.kinds.count};
    db->context_limit = (uint32_t)self->contexts.count;
    db->context_weight = (uint64_t)self->contexts.count * 2 + 1;
    return true;
}
