#include "formats/hpctoolkit/meas/open.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/meas/code/modules.h"
#include "formats/hpctoolkit/meas/code/path_map.h"
#include "formats/hpctoolkit/meas/profile/node_kinds.h"
#include "formats/hpctoolkit/meas/profile/profile.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"

struct measurements {
    struct cn_measurements base; /* first: operations receive a pointer to it */
    struct cn_hpc_meas_options options;
    struct cn_hpc_directories directories;
    struct cn_hpc_modules modules;
    struct cn_map placeholders; /* code -> function */
};

static struct measurements *self_of(struct cn_measurements *m)
{
    return (struct measurements *)m;
}

static const struct measurements *view_of(const struct cn_measurements *m)
{
    return (const struct measurements *)m;
}

static void print_path(const struct cn_hpc_directories *directories, size_t profile,
                       struct cn_text *out)
{
    cn_text_printf(out, "%s/%s", cn_hpc_directories_of(directories, profile)->path,
                   cn_hpc_directories_name(directories, profile));
}

static bool read_profile(const struct cn_measurements *m, size_t index,
                         struct cn_sampled_profile *into, struct cn_error *err)
{
    const struct measurements *self = view_of(m);
    struct cn_text path = {0};

    print_path(&self->directories, index, &path);
    into->folder = (size_t)(cn_hpc_directories_of(&self->directories, index) -
                            self->directories.list);
    bool ok =
        cn_hpc_profile_read(cn_text_str(&path), self->options.without_traces, into, err);
    cn_text_done(&path);
    return ok;
}

static const char *profile_path(const struct cn_measurements *m, size_t index)
{
    return cn_hpc_directories_shown(&view_of(m)->directories, index);
}

static uint64_t profile_len(const struct cn_measurements *m, size_t index)
{
    const struct measurements *self = view_of(m);
    struct cn_text path = {0}, trace_path = {0};
    struct stat st;
    uint64_t len = 0;

    print_path(&self->directories, index, &path);
    cn_hpc_trace_path_print(cn_text_str(&path), &trace_path);
    if (stat(cn_text_str(&path), &st) == 0)
        len = (uint64_t)st.st_size;
    if (!self->options.without_traces && stat(cn_text_str(&trace_path), &st) == 0)
        len += (uint64_t)st.st_size;
    cn_text_done(&path);
    cn_text_done(&trace_path);
    return len;
}

static bool find_module(struct cn_measurements *m, size_t profile, struct cn_bytes path,
                        uint32_t *out, struct cn_error *err)
{
    struct measurements *self = self_of(m);

    if (path.len == 0 || memchr(path.ptr, '\0', path.len))
        return cn_fail(err, CN_ERR_FORMAT,
                       "load module without a path, or with a NUL in it");
    *out = cn_hpc_modules_find(
        &self->modules, cn_hpc_directories_of(&self->directories, profile)->path, path);
    return true;
}

static bool places(struct cn_measurements *m, uint32_t module, uint64_t address,
                   struct cn_code_scopes *out, struct cn_error *err)
{
    (void)err;
    *out = cn_hpc_modules_scopes(&self_of(m)->modules, module, address);
    return true;
}

static bool call_paths(struct cn_measurements *m, uint32_t module, uint64_t address,
                       struct cn_call_paths *out, struct cn_error *err)
{
    (void)err;
    *out = cn_hpc_modules_paths(&self_of(m)->modules, module, address);
    return true;
}

static uint32_t placeholder(struct cn_measurements *m, uint64_t code)
{
    struct measurements *self = self_of(m);
    uint32_t *function = cn_map_at(&self->placeholders, code, CN_NONE);
    struct cn_text name = {0};

    if (*function == CN_NONE) {
        cn_hpc_placeholder_print(code, &name);
        *function = cn_hpc_tables_add_function(
            &self->modules.tables, (struct cn_function){.name = cn_text_str(&name),
                                                        .module = CN_NONE,
                                                        .file = CN_NONE});
        cn_text_done(&name);
    }
    return *function;
}

static void module_of(const struct cn_measurements *m, uint32_t index,
                      struct cn_module *out)
{
    out->path = view_of(m)->modules.list[index].shown;
}

/* A source file that exists here and may be used is copied into the database. */
static void file_of(struct cn_measurements *m, uint32_t index, struct cn_source_file *out)
{
    struct measurements *self = self_of(m);
    const struct cn_hpc_meas_options *options = &self->options;
    const char *path = self->modules.tables.files.list[index];
    struct cn_text local = {0};
    struct stat st;

    *out = (struct cn_source_file){.path = path};
    if (path[0] != '/' || options->without_sources || options->is_foreign)
        return;
    cn_path_map_apply(options->maps, options->map_count, path, &local);
    if (stat(cn_text_str(&local), &st) == 0 && S_ISREG(st.st_mode)) {
        out->path = cn_arena_printf(&self->base.arena, "src%s", path);
        out->origin = cn_arena_strdup(&self->base.arena, cn_text_str(&local));
        out->is_copied = true;
    }
    cn_text_done(&local);
}

static void function_of(const struct cn_measurements *m, uint32_t index,
                        struct cn_function *out)
{
    *out = view_of(m)->modules.tables.functions[index];
}

static void close_all(struct cn_measurements *m)
{
    struct measurements *self = self_of(m);

    cn_hpc_modules_done(&self->modules);
    cn_hpc_directories_done(&self->directories);
    cn_map_done(&self->placeholders);
    cn_arena_done(&self->base.arena);
    free(self);
}

static const struct cn_measurements_ops ops = {
    .read = read_profile,
    .profile_done = cn_hpc_profile_done,
    .profile_path = profile_path,
    .profile_len = profile_len,
    .find_module = find_module,
    .scopes = places,
    .call_paths = call_paths,
    .placeholder = placeholder,
    .module = module_of,
    .file = file_of,
    .function = function_of,
    .close = close_all,
};

bool cn_hpc_meas_probe(const char *path)
{
    struct cn_error ignored = {0};
    struct cn_file file = {0};
    struct dirent *entry;
    bool is_found = false;
    struct stat st;

    if (stat(path, &st) < 0)
        return false;
    if (!S_ISDIR(st.st_mode)) {
        is_found = cn_ends_with(path, ".hpcrun") ||
                   (cn_file_open(&file, path, &ignored) && cn_hpc_run_is(file.bytes));
        cn_file_close(&file);
        return is_found;
    }
    DIR *dir = opendir(path);
    while (dir && !is_found && (entry = readdir(dir)))
        is_found = cn_ends_with(entry->d_name, ".hpcrun");
    if (dir)
        (void)closedir(dir);
    return is_found;
}

bool cn_hpc_meas_open(struct cn_measurements **out, const char *const *paths,
                      size_t count, const struct cn_hpc_meas_options *options,
                      struct cn_error *err)
{
    struct measurements *self = cn_alloc(1, sizeof(*self));

    self->base.ops = &ops;
    self->directories.has_several = count > 1;
    if (options)
        self->options = *options;
    for (size_t i = 0; i < count; i++) {
        if (!cn_hpc_directories_add(&self->directories, paths[i],
                                    self->options.names ? &self->options.names[i] : NULL,
                                    err)) {
            close_all(&self->base);
            return false;
        }
    }
    self->base.path = self->directories.list[0].path;
    self->base.profile_count = self->directories.profile_count;
    self->modules.warn = &self->base;
    self->modules.directories = &self->directories;
    self->modules.options = &self->options;
    *out = &self->base;
    return true;
}
