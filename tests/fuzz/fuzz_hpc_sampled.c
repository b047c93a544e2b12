/* Any bytes as a .hpcrun file of a GPU program, analysed: a database comes out that can be
 * walked, or a message. */
#include <assert.h>
#include <stdlib.h>

#include "analyze/samples/database.h"
#include "base/alloc.h"
#include "formats/hpctoolkit/meas/code/structure.h"
#include "formats/hpctoolkit/meas/profile/profile.h"
#include "model/contexts/walk.h"
#include "support/fuzz.h"
#include "support/gpu_run.h"

/* Measurements of one profile, all of whose modules are the same GPU binary. */
struct fuzzed {
    struct cn_measurements base; /* first: operations receive a pointer to it */
    struct cn_bytes run;
    struct cn_hpc_structures structures;
    struct cn_hpc_tables tables;
    struct cn_hpc_call_paths found;
    struct cn_code_scope *scopes;
    size_t scope_capacity;
    struct cn_call_path *paths;
    uint32_t placeholder;
};

static bool read_run(const struct cn_measurements *m, size_t index,
                     struct cn_sampled_profile *into, struct cn_error *err)
{
    (void)index;
    return cn_hpc_profile_decode(((const struct fuzzed *)m)->run, (struct cn_bytes){0},
                                 into, err);
}

static uint64_t profile_len(const struct cn_measurements *m, size_t index)
{
    (void)index;
    return ((const struct fuzzed *)m)->run.len;
}

static const char *path_of(const struct cn_measurements *m, size_t index)
{
    (void)m, (void)index;
    return "run";
}

static bool find_module(struct cn_measurements *m, size_t profile, struct cn_bytes path,
                        uint32_t *out, struct cn_error *err)
{
    (void)m, (void)profile, (void)path, (void)err;
    *out = 0;
    return true;
}

static bool places(struct cn_measurements *m, uint32_t module, uint64_t address,
                   struct cn_code_scopes *out, struct cn_error *err)
{
    struct fuzzed *self = (struct fuzzed *)m;
    size_t count = cn_hpc_structure_scopes(&self->structures.list[0], address,
                                           &self->scopes, &self->scope_capacity);

    (void)module, (void)err;
    *out = (struct cn_code_scopes){self->scopes, count, true};
    return true;
}

static bool call_paths(struct cn_measurements *m, uint32_t module, uint64_t address,
                       struct cn_call_paths *out, struct cn_error *err)
{
    struct fuzzed *self = (struct fuzzed *)m;
    const struct cn_hpc_structure *structure = &self->structures.list[0];

    (void)module, (void)err;
    *out = (struct cn_call_paths){0};
    if (!cn_hpc_structure_paths(structure, &self->tables, address, &self->found))
        return true;
    self->paths = cn_realloc(self->paths, self->found.count, sizeof(*self->paths));
    for (size_t i = 0; i < self->found.count; i++)
        self->paths[i] = (struct cn_call_path){
            .calls = self->found.list[i].call_count
                         ? self->found.calls + self->found.list[i].first_call
                         : NULL,
            .call_count = self->found.list[i].call_count,
            .entry = {.kind = CN_CONTEXT_FUNCTION,
                      .relation = CN_CALL,
                      .function = structure->graph.functions[self->found.list[i].entry],
                      .file = CN_NONE,
                      .module = CN_NONE},
        };
    *out = (struct cn_call_paths){self->paths, self->found.count};
    return true;
}

static uint32_t placeholder(struct cn_measurements *m, uint64_t code)
{
    (void)code;
    return ((struct fuzzed *)m)->placeholder;
}

static void module_of(const struct cn_measurements *m, uint32_t index,
                      struct cn_module *out)
{
    (void)m, (void)index;
    out->path = "module";
}

static void file_of(struct cn_measurements *m, uint32_t index, struct cn_source_file *out)
{
    *out =
        (struct cn_source_file){.path = ((struct fuzzed *)m)->tables.files.list[index]};
}

static void function_of(const struct cn_measurements *m, uint32_t index,
                        struct cn_function *out)
{
    *out = ((const struct fuzzed *)m)->tables.functions[index];
}

static const struct cn_measurements_ops ops = {
    .read = read_run,
    .profile_done = cn_hpc_profile_done,
    .profile_path = path_of,
    .profile_len = profile_len,
    .find_module = find_module,
    .scopes = places,
    .call_paths = call_paths,
    .placeholder = placeholder,
    .module = module_of,
    .file = file_of,
    .function = function_of,
};

static void open_fuzzed(struct fuzzed *self, struct cn_bytes run)
{
    struct cn_text text = {0};
    struct cn_error err = {0};

    self->base = (struct cn_measurements){.ops = &ops, .path = "", .profile_count = 1};
    self->run = run;
    cn_gpu_structure_add(&text, "1", "0x600");
    if (!cn_hpc_structures_read(&self->structures,
                                (struct cn_bytes){(const uint8_t *)text.chars, text.len},
                                &self->tables, &err))
        abort();
    cn_text_done(&text);
    self->placeholder = cn_hpc_tables_add_function(
        &self->tables,
        (struct cn_function){.name = "?", .module = CN_NONE, .file = CN_NONE});
}

static void close_fuzzed(struct fuzzed *self)
{
    cn_hpc_structures_done(&self->structures);
    cn_hpc_tables_done(&self->tables);
    cn_hpc_call_paths_done(&self->found);
    free(self->scopes);
    free(self->paths);
    cn_arena_done(&self->base.arena);
}

static void walk(struct cn_database *db)
{
    struct cn_walk walk = {0};
    const struct cn_context *context;
    struct cn_error err = {0};
    enum cn_walk_event event;
    enum cn_step step;

    assert(cn_walk_begin(&walk, db, &err));
    while ((step = cn_walk_next(&walk, &event, &context, &err)) == CN_ITEM)
        assert(context->id < db->context_limit);
    assert(step == CN_END);
    cn_walk_done(&walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_sampled_options options = {.workers = 1, .spool_folder = "/tmp"};
    struct fuzzed self = {0};
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    open_fuzzed(&self, (struct cn_bytes){data, len});
    if (cn_sampled_database_build(&db, &self.base, &options, NULL, &err))
        walk(db);
    else
        assert(err.text[0] != '\0');
    cn_database_close(db);
    close_fuzzed(&self);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    const struct cn_made_run runs[] = {cn_gpu_run(), cn_gpu_range_run()};

    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        struct cn_text text = {0};

        cn_made_run_add(&runs[i], &text);
        emit((const uint8_t *)text.chars, text.len);
        cn_text_done(&text);
    }
}
