#include "formats/exchange/perf/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/exchange/perf/entry.h"
#include "formats/exchange/perf/file.h"
#include "formats/exchange/perf/locks.h"
#include "formats/exchange/read/stacks/import.h"
#include "symbols/demangle.h"
#include "symbols/program/resolver.h"

enum { INLINE_MAX = 64 };

/* Where an address is; in memory without a file, code may change. */
struct cn_perf_found {
    bool is_anonymous;
    uint32_t frames; /* if it is not */
};

/* A loop, and where its first instruction is in each function around it. */
struct cn_perf_loop {
    struct cn_source_location *levels;
    size_t count;
};

/* The code that a process compiled. */
struct cn_perf_jit {
    struct cn_jit_code code;
    const char *jitdump; /* that was read; NULL: none */
    bool has_map;        /* it was looked for */
};

void cn_perf_symbols_init(struct cn_perf_symbols *symbols)
{
    *symbols = (struct cn_perf_symbols){.resolver = cn_resolver_new()};
}

void cn_perf_symbols_done(struct cn_perf_symbols *symbols)
{
    cn_resolver_free(symbols->resolver);
    cn_vdso_close(&symbols->vdso);
    cn_kernel_symbols_done(&symbols->kernel);
    *symbols = (struct cn_perf_symbols){0};
}

void cn_perf_names_init(struct cn_perf_names *names, struct cn_import *import,
                        struct cn_perf_symbols *symbols,
                        const struct cn_perf_spaces *spaces,
                        const struct cn_perf_file *file, bool is_this_kernel,
                        bool has_jit_times)
{
    *names = (struct cn_perf_names){
        .import = import,
        .spaces = spaces,
        .symbols = symbols,
        .file = file,
        .is_this_kernel = is_this_kernel,
        .has_jit_times = has_jit_times,
    };
}

/* A file of another kernel cannot be resolved with these. */
static void load_kernel(struct cn_perf_names *names)
{
    if (names->symbols->has_kernel || !names->is_this_kernel)
        return;
    cn_kernel_symbols_load(&names->symbols->kernel);
    (void)cn_vdso_open(&names->symbols->vdso);
    names->symbols->has_kernel = true;
}

static void add_frame(struct cn_perf_names *names, const struct cn_import_frame *frame)
{
    names->has_futex = names->has_futex || cn_perf_is_futex(frame->name);
    names->has_name = names->has_name || frame->name[0] != '[';
    if (names->symbols->kept)
        cn_stored_symbols_level(names->symbols->kept, &(struct cn_stored_level){
                                                          .name = frame->name,
                                                          .module = frame->module,
                                                          .build_id = frame->build_id,
                                                          .file = frame->file,
                                                          .offset = frame->offset,
                                                          .line = frame->line,
                                                          .is_inlined = frame->is_inlined,
                                                      });
    CN_PUSH(names->frames, names->frame_count, names->frame_capacity,
            cn_import_frame(names->import, frame));
}

/* The body of an async fn of Rust is a closure in it: it is shown as the function. Only debug
 * information tells it from other closures. */
static void cut_async(struct cn_text *name, const char *die_name)
{
    static const char *const closures[] = {"::{closure#0}", "::{{closure}}"};

    if (!die_name || strncmp(die_name, "{async_fn#", strlen("{async_fn#")) != 0)
        return;
    for (size_t i = 0; i < CN_COUNT_OF(closures); i++)
        if (cn_ends_with(cn_text_str(name), closures[i])) {
            name->len -= strlen(closures[i]);
            name->chars[name->len] = '\0';
            return;
        }
}

/* Also of an entry of a linkage table: "std::terminate()@plt". `die_name` is that of debug
 * information, or NULL. */
static void add_named(struct cn_perf_names *names, const char *name, const char *die_name,
                      struct cn_import_frame frame)
{
    const char *at = strchr(name, '@');
    struct cn_text text = {0}, mangled = {0};

    cn_text_add(&mangled, name, at ? (size_t)(at - name) : strlen(name));
    frame.name = name;
    if (cn_demangle(cn_text_str(&mangled), CN_DEMANGLE_FULL, &text)) {
        cut_async(&text, die_name);
        cn_text_str_add(&text, at ? at : "");
        frame.name = cn_text_str(&text);
    }
    add_frame(names, &frame);
    cn_text_done(&text);
    cn_text_done(&mangled);
}

/* perf inject --jit makes a file "jitted-PID-NUMBER.so" of each compiled function. */
static void add_symbol(struct cn_perf_names *names, const char *name,
                       const char *die_name, struct cn_import_frame frame)
{
    const char *slash = strrchr(frame.module, '/');
    struct cn_jit_function function = {0};

    if (slash && strncmp(slash, "/jitted-", strlen("/jitted-")) == 0) {
        cn_jit_code_name(&names->injected, name, strlen(name), &function);
        frame = (struct cn_import_frame){
            .module = function.language, .file = function.file, .line = function.line};
        name = function.name;
    }
    add_named(names, name, die_name, frame);
}

/* "[unknown] [libfoo.so]". */
static void add_unknown(struct cn_perf_names *names, const char *module,
                        const char *build_id)
{
    const char *base = cn_path_name(module);
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_IMPORT_UNKNOWN);
    if (base[0])
        cn_text_printf(&text, base[0] == '[' ? " %s" : " [%s]", base);
    add_frame(names, &(struct cn_import_frame){.name = cn_text_str(&text),
                                               .module = module,
                                               .build_id = build_id,
                                               .file = ""});
    cn_text_done(&text);
}

static void add_loop(struct cn_perf_names *names, const char *file, uint32_t line)
{
    if (names->symbols->kept)
        cn_stored_symbols_level(
            names->symbols->kept,
            &(struct cn_stored_level){
                .name = "", .module = "", .file = file, .line = line, .is_loop = true});
    CN_PUSH(names->frames, names->frame_count, names->frame_capacity,
            cn_import_loop(names->import, file, line));
}

/* True for "git+0x2a1500". */
static bool is_by_offset(const char *name, const char *module)
{
    const char *base = cn_path_name(module);
    size_t len = strlen(base);

    return strncmp(name, base, len) == 0 && strncmp(name + len, "+0x", 3) == 0;
}

static bool is_unnamed(const char *name, const char *module)
{
    return is_by_offset(name, module) ||
           strncmp(name, CN_IMPORT_UNKNOWN, strlen(CN_IMPORT_UNKNOWN)) == 0;
}

/* What the file itself says about an address. */
static bool add_stored(struct cn_perf_names *names, const struct cn_stored_symbol *symbol,
                       struct cn_perf_frames *out)
{
    const struct cn_stored_symbols *symbols = &names->file->symbols;

    if (!symbol)
        return false;
    if (symbol->module && symbol->count == 1 &&
        is_unnamed(symbols->levels[symbol->first].name, symbol->module))
        out->unnamed = symbol->module;
    for (uint32_t i = 0; i < symbol->count; i++) {
        const struct cn_stored_level *level = &symbols->levels[symbol->first + i];

        if (level->is_loop)
            add_loop(names, level->file, level->line);
        else
            add_frame(names, &(struct cn_import_frame){.name = level->name,
                                                       .module = level->module,
                                                       .build_id = level->build_id,
                                                       .file = level->file,
                                                       .line = level->line,
                                                       .offset = level->offset,
                                                       .is_inlined = level->is_inlined});
    }
    out->entry = (enum cn_entry)symbol->entry;
    out->is_main_caller = symbol->is_main_caller;
    out->file = symbol->file;
    out->line = symbol->line;
    out->module = symbol->module;
    out->build_id = symbol->build_id;
    out->offset = symbol->offset;
    return true;
}

/* Keep what was found about an address, for a file that will contain it. */
static void keep(const struct cn_perf_names *names, uint64_t key,
                 const struct cn_perf_frames *frames, bool is_known)
{
    if (!names->symbols->kept)
        return;
    if (is_known)
        cn_stored_symbols_add(names->symbols->kept, key,
                              &(struct cn_stored_symbol){
                                  .entry = frames->entry,
                                  .line = frames->line,
                                  .file = frames->file,
                                  .module = frames->module,
                                  .build_id = frames->build_id,
                                  .offset = frames->offset,
                                  .is_main_caller = frames->is_main_caller,
                                  .is_partial = !frames->file,
                              });
    else
        cn_stored_symbols_drop(names->symbols->kept);
}

static struct cn_perf_frames *begin_frames(struct cn_perf_names *names)
{
    CN_GROW(names->list, names->count, names->capacity);
    names->list[names->count] =
        (struct cn_perf_frames){.first = (uint32_t)names->frame_count};
    return &names->list[names->count++];
}

static void end_frames(struct cn_perf_names *names, struct cn_perf_frames *frames)
{
    frames->is_futex = names->has_futex;
    frames->is_named = names->has_name;
    names->has_futex = names->has_name = false;
    frames->count = (uint32_t)names->frame_count - frames->first;
}

/* The loops around an address, the outermost first, with the level of inlining of each. */
struct loops {
    struct {
        size_t level; /* index of the function that contains it */
        struct cn_source_location location;
    } list[CN_RESOLVER_LOOP_MAX];
    size_t count;
};

/* The functions that contain a loop; looked up once. */
static const struct cn_perf_loop *loop_at(struct cn_perf_names *names, const char *path,
                                          const char *build_id,
                                          const struct cn_symbol *function, uint64_t head)
{
    uint64_t key = XXH3_64bits_withSeed(path, strlen(path), head);
    uint32_t at = *cn_map_at(&names->loop_of, key, (uint32_t)names->loop_count);
    struct cn_source_location levels[INLINE_MAX];

    if (at < names->loop_count)
        return &names->loops[at];
    CN_GROW(names->loops, at, names->loop_capacity);
    struct cn_perf_loop *loop = &names->loops[names->loop_count++];
    loop->count = cn_resolver_loop(names->symbols->resolver, path, build_id, function,
                                   head, levels, INLINE_MAX);
    loop->levels = cn_arena_alloc(&names->arena, loop->count + 1, sizeof(*loop->levels));
    memcpy(loop->levels, levels, loop->count * sizeof(*levels));
    return loop;
}

/* A loop belongs to the innermost function that both the loop and the address are in. */
static void find_loops(struct cn_perf_names *names, const char *path,
                       const char *build_id, const struct cn_symbol *function,
                       uint64_t offset, const struct cn_source_location *locations,
                       size_t count, struct loops *out)
{
    uint64_t heads[CN_RESOLVER_LOOP_MAX];
    size_t head_count = cn_resolver_loops(names->symbols->resolver, path, build_id,
                                          function, offset, heads);

    for (size_t i = 0; i < head_count; i++) {
        const struct cn_perf_loop *loop =
            loop_at(names, path, build_id, function, heads[i]);
        size_t level = 0;

        if (loop->count == 0)
            continue;
        /* Strings of the resolver are unique. */
        while (level + 1 < count && level + 1 < loop->count &&
               locations[level + 1].function == loop->levels[level + 1].function)
            level++;
        out->list[out->count].level = level;
        out->list[out->count++].location = loop->levels[level];
    }
}

static void add_loops(struct cn_perf_names *names, const struct loops *loops,
                      size_t level)
{
    for (size_t i = 0; i < loops->count; i++) {
        if (loops->list[i].level != level)
            continue;
        add_loop(names, loops->list[i].location.file, loops->list[i].location.line);
    }
}

/* The function that contains an address of a file, and the calls inlined there. */
static void resolve_file(struct cn_perf_names *names,
                         const struct cn_unwind_mapping *mapping, uint64_t file_off,
                         const struct cn_stored_symbol *stored,
                         struct cn_perf_frames *out)
{
    struct cn_import_frame frame = {
        .name = "", .module = mapping->path, .build_id = mapping->build_id, .file = ""};
    struct cn_source_location locations[INLINE_MAX], location = {0};
    struct cn_symbol symbol;
    struct loops loops = {0};
    const char *path = mapping->path;
    uint64_t offset;

    if (strcmp(path, "[vdso]") == 0) {
        load_kernel(names);
        path = names->is_this_kernel && names->symbols->vdso.is_open
                   ? names->symbols->vdso.path
                   : path;
    }
    if (stored && (!stored->is_partial || mapping->build_id[0] == '\0') &&
        add_stored(names, stored, out))
        return;
    /* A file with debug information alone has no offsets of the program's file. */
    if (stored)
        offset = stored->offset;
    else if (!cn_resolver_offset(names->symbols->resolver, path, mapping->build_id,
                                 file_off, &offset)) {
        add_unknown(names, mapping->path, mapping->build_id);
        out->unnamed = mapping->path;
        return;
    }
    /* Also of what has no name: a debug file may have one later. */
    out->module = mapping->path;
    out->build_id = mapping->build_id;
    out->offset = offset;
    bool is_known = cn_resolver_symbol(names->symbols->resolver, path, mapping->build_id,
                                       offset, &symbol);
    /* The program here may be stripped, and the one that the names were taken from not. */
    if ((!is_known || is_by_offset(symbol.name, path)) && add_stored(names, stored, out))
        return;
    if (!is_known) {
        add_unknown(names, mapping->path, mapping->build_id);
        out->unnamed = mapping->path;
        return;
    }
    frame.offset = symbol.offset;
    if (cn_resolver_function(names->symbols->resolver, path, mapping->build_id, offset,
                             &location)) {
        frame.file = location.file;
        frame.line = location.line;
    }
    out->entry = cn_perf_entry_of(symbol.name);
    out->is_main_caller = strcmp(symbol.name, "__libc_start_main") == 0;
    out->unnamed = is_by_offset(symbol.name, path) ? mapping->path : NULL;
    size_t count = cn_resolver_instruction(
        names->symbols->resolver, path, mapping->build_id, offset, locations, INLINE_MAX);
    if (count > 0)
        find_loops(names, path, mapping->build_id, &symbol, offset, locations, count,
                   &loops);
    for (size_t i = 0; i < (count ? count : 1); i++) {
        if (i == 0)
            add_symbol(names, symbol.name, location.function, frame);
        else
            add_named(names,
                      locations[i].mangled ? locations[i].mangled : locations[i].function,
                      locations[i].function,
                      (struct cn_import_frame){.module = mapping->path,
                                               .build_id = mapping->build_id,
                                               .file = "",
                                               .is_inlined = true});
        add_loops(names, &loops, i);
    }
    if (count > 0) {
        out->file = locations[count - 1].file;
        out->line = locations[count - 1].line;
    }
}

/* Code in memory without a file may have been written by the program. */
static bool is_anonymous(const struct cn_unwind_mapping *mapping)
{
    static const char *const prefixes[] = {
        "//anon",  "/anon_hugepage", "[anon", "[heap]", "[stack",
        "/memfd:", "/dev/zero",      "/SYSV", "jit-"};

    if (!mapping || mapping->path[0] == '\0')
        return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(mapping->path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void open_jit(struct cn_perf_names *names, struct cn_perf_jit *jit,
                     const char *path)
{
    struct cn_error err = {0};

    if (!cn_jit_code_open(&jit->code, path, &err) && err.kind != CN_ERR_NOT_FOUND)
        cn_import_warn(names->import, false, "%s", err.text);
}

/* The code that a process has compiled; its files are read when they are first needed. */
static struct cn_perf_jit *jit_at(struct cn_perf_names *names, uint32_t pid,
                                  const struct cn_perf_process *process)
{
    uint32_t at = *cn_map_at(&names->jit_of, pid, (uint32_t)names->jit_count);

    if (at == names->jit_count) {
        CN_PUSH(names->jit, names->jit_count, names->jit_capacity,
                (struct cn_perf_jit){0});
    }
    struct cn_perf_jit *jit = &names->jit[at];
    if (!jit->has_map) {
        char path[32];

        (void)snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
        jit->has_map = true;
        open_jit(names, jit, path);
    }
    if (process->jitdump && !jit->jitdump) {
        jit->jitdump = process->jitdump;
        open_jit(names, jit, jit->jitdump);
    }
    return jit;
}

static const struct cn_perf_frames *frames_at(struct cn_perf_names *names, uint64_t key,
                                              bool *is_new)
{
    uint32_t at = *cn_map_at(&names->frames_of, key, (uint32_t)names->count);

    *is_new = at == names->count;
    return *is_new ? begin_frames(names) : &names->list[at];
}

static const struct cn_perf_frames *resolve_jit(struct cn_perf_names *names, uint32_t pid,
                                                const struct cn_perf_process *process,
                                                uint64_t address, uint64_t time_ns)
{
    struct cn_perf_jit *jit = jit_at(names, pid, process);
    const struct cn_jit_function *function = cn_jit_code_find(
        &jit->code, address, names->has_jit_times ? time_ns : UINT64_MAX);
    const struct cn_jit_line *line =
        function ? cn_jit_function_line(function, address) : NULL;
    char pid_text[16];

    (void)snprintf(pid_text, sizeof(pid_text), "%" PRIu32, pid);
    uint64_t stored_key = cn_stored_symbols_key("[jit]", pid_text, address);
    const struct cn_stored_symbol *stored =
        function ? NULL : cn_stored_symbols_find(&names->file->symbols, stored_key);
    uint64_t key[] = {(uint64_t)(jit - names->jit),
                      function ? 1 + (uint64_t)(function - jit->code.list) : 0,
                      line ? 1 + (uint64_t)(line - function->lines) : 0,
                      stored || (function && names->symbols->kept) ? address : 0};
    bool is_new;
    const struct cn_perf_frames *known =
        frames_at(names, XXH3_64bits(key, sizeof(key)), &is_new);

    if (!is_new)
        return known;
    struct cn_perf_frames *frames = &names->list[names->count - 1];
    if (function)
        add_frame(names, &(struct cn_import_frame){.name = function->name,
                                                   .module = function->language,
                                                   .file = function->file,
                                                   .line = function->line});
    else if (!add_stored(names, stored, frames)) {
        add_unknown(names, "", "");
        frames->unnamed = "";
    }
    frames->is_of_time = names->has_jit_times;
    if (line) {
        frames->file = line->file;
        frames->line = line->line;
    }
    end_frames(names, frames);
    /* Code of a jitdump moves: its names belong to times. */
    keep(names, stored_key, frames, stored || (function && !jit->jitdump));
    return frames;
}

static uint32_t resolve_mapping(struct cn_perf_names *names,
                                const struct cn_unwind_mapping *mapping, uint64_t address)
{
    uint64_t file_off = address - mapping->begin + mapping->file_off;
    uint64_t key = cn_stored_symbols_key(mapping->path, mapping->build_id, file_off);
    bool is_new;
    const struct cn_perf_frames *frames = frames_at(names, key, &is_new);
    uint32_t at = (uint32_t)(frames - names->list);

    if (is_new) {
        resolve_file(names, mapping, file_off,
                     cn_stored_symbols_find(&names->file->symbols, key),
                     &names->list[at]);
        end_frames(names, &names->list[at]);
        keep(names, key, &names->list[at], names->list[at].module != NULL);
    }
    return at;
}

/* A frame of an interpreter or a run-time compiler: its module is "[python]", or "[native]" for code
 * of no language. */
static uint32_t resolve_stored(struct cn_perf_names *names, uint64_t address)
{
    const struct cn_stored_frame *stored =
        cn_stored_names_find(&names->file->stored, address);
    struct cn_perf_frames *frames = begin_frames(names);
    struct cn_text module = {0};

    cn_text_printf(&module, "[%s]", cn_language_name(cn_stored_language(address)));
    if (stored && stored->function[0])
        add_frame(names, &(struct cn_import_frame){.name = stored->function,
                                                   .module = cn_text_str(&module),
                                                   .file = stored->file,
                                                   .line = stored->first_line});
    else
        add_unknown(names, cn_text_str(&module), "");
    if (stored && stored->line > 0) {
        frames->file = stored->file;
        frames->line = stored->line;
    }
    if (stored && stored->language == CN_LANGUAGE_GO)
        frames->entry = cn_perf_entry_of(stored->function);
    end_frames(names, frames);
    keep(names, 0, frames, false);
    cn_text_done(&module);
    return (uint32_t)(frames - names->list);
}

static struct cn_perf_found *found_at(struct cn_perf_names *names, uint64_t address,
                                      uint32_t generation, bool *is_new)
{
    uint64_t key[2] = {address, generation};
    uint32_t at = *cn_map_at(&names->found_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)names->found_count);

    *is_new = at == names->found_count;
    if (*is_new) {
        CN_GROW(names->found, at, names->found_capacity);
        names->found[names->found_count++] = (struct cn_perf_found){0};
    }
    return &names->found[at];
}

const struct cn_perf_frames *cn_perf_names_user(struct cn_perf_names *names, uint32_t pid,
                                                const struct cn_perf_process *process,
                                                uint64_t address, uint64_t time_ns)
{
    bool is_new;
    struct cn_perf_found *found = found_at(names, address, process->generation, &is_new);

    if (is_new && cn_stored_is_frame(address)) {
        found->frames = resolve_stored(names, address);
    } else if (is_new) {
        const struct cn_unwind_mapping *mapping =
            cn_unwind_space_find(process->space, address);

        found->is_anonymous = is_anonymous(mapping);
        if (!found->is_anonymous)
            found->frames = resolve_mapping(names, mapping, address);
    }
    if (found->is_anonymous)
        return resolve_jit(names, pid, process, address, time_ns);
    return &names->list[found->frames];
}

/* After the last function of a part of the kernel. */
static bool is_end(const char *name)
{
    static const char *const ends[] = {"_etext", "_einittext", "_end"};

    return cn_list_has(ends, CN_COUNT_OF(ends), name);
}

static void resolve_kernel(struct cn_perf_names *names, uint64_t address,
                           struct cn_perf_frames *out)
{
    const struct cn_unwind_mapping *mapping =
        names->spaces->kernel ? cn_unwind_space_find(names->spaces->kernel, address)
                              : NULL;
    const char *module =
        mapping && mapping->path[0] == '/' ? mapping->path : "[kernel.kallsyms]";
    uint64_t key = cn_stored_symbols_key("[kernel]", "", address);
    const struct cn_kernel_symbol *symbol;

    if (add_stored(names, cn_stored_symbols_find(&names->file->symbols, key), out)) {
        keep(names, key, out, true);
        return;
    }
    load_kernel(names);
    symbol = names->is_this_kernel
                 ? cn_kernel_symbols_find(&names->symbols->kernel, address)
                 : NULL;
    if (symbol && is_end(names->symbols->kernel.text.chars + symbol->name_off))
        symbol = NULL;
    if (!symbol) {
        names->hidden_count++;
        add_unknown(names, module, "");
        keep(names, key, out, false);
        return;
    }
    const char *name = names->symbols->kernel.text.chars + symbol->name_off;
    out->entry = cn_perf_entry_of(name);
    add_frame(names,
              &(struct cn_import_frame){.name = name, .module = module, .file = ""});
    keep(names, key, out, true);
}

const struct cn_perf_frames *cn_perf_names_kernel(struct cn_perf_names *names,
                                                  uint64_t address)
{
    bool is_new;
    struct cn_perf_found *found = found_at(names, address, 0, &is_new);

    if (is_new) {
        struct cn_perf_frames *frames = begin_frames(names);

        found->frames = (uint32_t)(frames - names->list);
        resolve_kernel(names, address, frames);
        end_frames(names, frames);
    }
    return &names->list[found->frames];
}

void cn_perf_names_warn(const struct cn_perf_names *names)
{
    if (names->hidden_count == 0)
        return;
    if (!names->is_this_kernel)
        cn_import_warn(names->import, false,
                       "functions of the kernel are unknown: it is not the running one");
    else if (names->symbols->kernel.count == 0)
        cn_import_warn(names->import, false,
                       "functions of the kernel are unknown: this user may not see their "
                       "addresses; allow it with 'sysctl kernel.kptr_restrict=0', or run "
                       "as root");
}

void cn_perf_names_done(struct cn_perf_names *names)
{
    cn_map_done(&names->found_of);
    cn_map_done(&names->frames_of);
    cn_map_done(&names->jit_of);
    cn_map_done(&names->loop_of);
    cn_arena_done(&names->arena);
    free(names->loops);
    cn_jit_code_done(&names->injected);
    for (size_t i = 0; i < names->jit_count; i++)
        cn_jit_code_done(&names->jit[i].code);
    free(names->found);
    free(names->list);
    free(names->jit);
    free(names->frames);
    *names = (struct cn_perf_names){0};
}
