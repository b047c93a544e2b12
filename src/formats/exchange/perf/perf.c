/* perf.data as a database: the call chain of a sample is a context, its period a value of
 * the metric of its event, its time a sample of the timeline of its thread. */

#include "formats/exchange/perf/perf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/perf/address_space.h"
#include "formats/exchange/perf/perf_stack.h"
#include "formats/exchange/read/import.h"
#include "symbols/demangle.h"
#include "symbols/kernel_symbols.h"
#include "symbols/resolver.h"
#include "symbols/vdso.h"

enum { INLINE_MAX = 64 };

/* The frames of an address, the outermost first. */
struct resolved {
    uint32_t first_frame, frame_count;
    const char *file; /* of the line; NULL if unknown */
    uint32_t line;
};

struct reading {
    struct cn_import *import;
    struct cn_perf_file file;
    struct cn_perf_spaces spaces;
    struct cn_resolver *resolver;
    struct cn_kernel_symbols kernel;
    bool is_this_kernel; /* recorded on the running kernel */
    bool has_kernel;     /* `kernel` was loaded, `vdso` opened */
    struct cn_vdso vdso;
    struct cn_map resolved_of; /* by address and generation of the process */
    struct resolved *resolved;
    uint32_t *frames;
    size_t resolved_count, resolved_capacity, frame_count, frame_capacity;
    uint32_t metrics[CN_PERF_EVENT_MAX];
    double scales[CN_PERF_EVENT_MAX];
    uint64_t lost_count;
    struct cn_perf_stacks stacks;
};

/* What a file of another kernel cannot be resolved with. */
static void load_kernel(struct reading *r)
{
    if (!r->has_kernel && r->is_this_kernel) {
        cn_kernel_symbols_load(&r->kernel);
        (void)cn_vdso_open(&r->vdso);
    }
    r->has_kernel = true;
}

static void add_frame(struct reading *r, const struct cn_import_frame *frame)
{
    r->frames =
        cn_grow(r->frames, r->frame_count, &r->frame_capacity, sizeof(*r->frames));
    r->frames[r->frame_count++] = cn_import_frame(r->import, frame);
}

static void add_named(struct reading *r, const char *name, struct cn_import_frame frame)
{
    struct cn_text text = {0};

    frame.name = cn_demangle(name, CN_DEMANGLE_FULL, &text) ? cn_text_str(&text) : name;
    add_frame(r, &frame);
    cn_text_done(&text);
}

/* The function that contains an address of a file, and the calls inlined there. */
static void resolve_user(struct reading *r, const struct cn_unwind_mapping *mapping,
                         uint64_t address, struct resolved *out)
{
    struct cn_import_frame frame = {.name = "", .module = mapping->path, .file = ""};
    struct cn_source_location locations[INLINE_MAX], location;
    struct cn_symbol symbol;
    const char *path = mapping->path;
    uint64_t offset;
    size_t count;

    if (strcmp(path, "[vdso]") == 0) {
        load_kernel(r);
        path = r->vdso.is_open ? r->vdso.path : path;
    }
    if (!cn_resolver_offset(r->resolver, path, mapping->build_id,
                            address - mapping->begin + mapping->file_off, &offset) ||
        !cn_resolver_symbol(r->resolver, path, mapping->build_id, offset, &symbol)) {
        add_frame(r, &frame);
        return;
    }
    frame.offset = symbol.offset;
    if (cn_resolver_function(r->resolver, path, mapping->build_id, offset, &location)) {
        frame.file = location.file;
        frame.line = location.line;
    }
    add_named(r, symbol.name, frame);
    count = cn_resolver_instruction(r->resolver, path, mapping->build_id, offset,
                                    locations, INLINE_MAX);
    for (size_t i = 1; i < count; i++)
        add_named(r, locations[i].function,
                  (struct cn_import_frame){
                      .module = mapping->path, .file = "", .is_inlined = true});
    if (count > 0) {
        out->file = locations[count - 1].file;
        out->line = locations[count - 1].line;
    }
}

static void resolve_kernel(struct reading *r, uint64_t address)
{
    const struct cn_unwind_mapping *mapping =
        r->spaces.kernel ? cn_unwind_space_find(r->spaces.kernel, address) : NULL;
    struct cn_import_frame frame = {
        .name = "", .module = "[kernel.kallsyms]", .file = ""};
    const struct cn_kernel_symbol *symbol;

    if (mapping && mapping->path[0] != '[')
        frame.module = mapping->path;
    load_kernel(r);
    symbol = cn_kernel_symbols_find(&r->kernel, address);
    if (symbol)
        frame.name = r->kernel.text.chars + symbol->name_off;
    add_frame(r, &frame);
}

static const struct resolved *resolve(struct reading *r,
                                      const struct cn_perf_process *process,
                                      uint64_t address, bool is_kernel)
{
    uint64_t key[2] = {address, is_kernel ? 0 : process->generation};
    uint32_t *at = cn_map_at(&r->resolved_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)r->resolved_count);
    const struct cn_unwind_mapping *mapping;
    struct resolved *to;

    if (*at < r->resolved_count)
        return &r->resolved[*at];
    r->resolved = cn_grow(r->resolved, r->resolved_count, &r->resolved_capacity,
                          sizeof(*r->resolved));
    to = &r->resolved[r->resolved_count++];
    *to = (struct resolved){.first_frame = (uint32_t)r->frame_count};
    mapping = is_kernel ? NULL : cn_unwind_space_find(process->space, address);
    if (is_kernel)
        resolve_kernel(r, address);
    else if (mapping)
        resolve_user(r, mapping, address, to);
    else
        add_frame(r, &(struct cn_import_frame){.name = "", .module = "", .file = ""});
    to->frame_count = (uint32_t)r->frame_count - to->first_frame;
    return to;
}

/* The context of a sample: its call chain, and the line of the innermost frame. A chain
 * begins with the innermost address. The others are return addresses: the call is before
 * them. */
static uint32_t context_of(struct reading *r, const struct cn_perf_sample *sample,
                           bool is_kernel)
{
    const struct cn_perf_process *process = cn_perf_process_at(&r->spaces, sample->pid);
    size_t count = sample->chain.len / 8, depth = 0;
    uint32_t stack[CN_IMPORT_DEPTH_MAX], context = 0;
    struct resolved innermost = {0};

    for (size_t i = 0; i < (count ? count : 1); i++) {
        uint64_t ip = count ? cn_u64_get(sample->chain.ptr + 8 * i) : sample->ip;
        const struct resolved *found;

        if (ip >= CN_PERF_CONTEXT_FIRST) {
            is_kernel = ip == CN_PERF_CONTEXT_KERNEL || ip == CN_PERF_CONTEXT_HV;
            continue;
        }
        found = resolve(r, process, depth > 0 && ip > 0 ? ip - 1 : ip, is_kernel);
        if (depth == 0)
            innermost = *found;
        for (uint32_t k = found->frame_count; k-- > 0 && depth < CN_IMPORT_DEPTH_MAX;)
            stack[depth++] = r->frames[found->first_frame + k];
    }
    while (depth > 0)
        context = cn_import_call(r->import, context, stack[--depth]);
    return innermost.file
               ? cn_import_line(r->import, context, innermost.file, innermost.line)
               : context;
}

static bool add_sample(struct reading *r, const struct cn_perf_record *record,
                       struct cn_error *err)
{
    bool is_kernel = (record->head.misc & CN_PERF_MODE_MASK) == CN_PERF_MODE_KERNEL;
    struct cn_import_identity identity = {.kinds = {"PROCESS", "THREAD"}, .name = ""};
    struct cn_perf_sample sample;
    uint32_t thread, context;

    if (!cn_perf_sample_decode(&r->file, record, &sample, err))
        return false;
    cn_perf_stack_complete(&r->stacks, &r->file, &r->spaces, &sample);
    identity.numbers[0] = sample.pid;
    identity.numbers[1] = sample.tid;
    if (!cn_import_thread(r->import, &identity, &thread, err))
        return false;
    context = context_of(r, &sample, is_kernel);
    if (sample.time_ns > 0)
        cn_import_sample(r->import, thread, sample.time_ns, context);
    return cn_import_add(r->import, thread, context, r->metrics[sample.event],
                         (double)sample.period * r->scales[sample.event], err);
}

/* Clocks count nanoseconds. */
static bool add_metrics(struct reading *r, struct cn_error *err)
{
    for (uint32_t i = 0; i < r->file.event_count; i++) {
        const char *name = r->file.events[i].name;
        bool is_clock = strncmp(name, "cpu-clock", strlen("cpu-clock")) == 0 ||
                        strncmp(name, "task-clock", strlen("task-clock")) == 0;
        struct cn_text text = {0};
        bool ok;

        cn_text_printf(&text, is_clock ? "%s (sec)" : "%s", name);
        ok = cn_import_metric(r->import, cn_text_str(&text), &r->metrics[i], err);
        cn_text_done(&text);
        r->scales[i] = is_clock ? 1e-9 : 1;
        if (!ok)
            return false;
    }
    return true;
}

static bool read_records(struct reading *r, struct cn_error *err)
{
    struct cn_perf_record record;
    enum cn_step step;

    while ((step = cn_perf_next(&r->file, &record, err)) == CN_ITEM) {
        if (record.head.type == CN_PERF_LOST && record.body.len >= 16)
            r->lost_count += cn_u64_get(record.body.ptr + 8);
        else if (record.head.type == CN_PERF_LOST_SAMPLES && record.body.len >= 8)
            r->lost_count += cn_u64_get(record.body.ptr);
        else if (record.head.type != CN_PERF_SAMPLE)
            cn_perf_spaces_take(&r->spaces, &r->file, &record);
        else if (!add_sample(r, &record, err))
            return cn_perf_fail_at(&r->file, record.off, err);
    }
    return step == CN_END;
}

bool cn_perf_read(struct cn_import *import, struct cn_bytes bytes, struct cn_error *err)
{
    struct reading r = {.import = import};
    bool ok;

    if (!cn_perf_file_open(&r.file, bytes, err))
        return false;
    r.resolver = cn_resolver_new();
    /* Compressed files have no build-ids: perf does not read their samples. */
    r.is_this_kernel =
        cn_kernel_is_running(cn_perf_build_id(&r.file, "[kernel.kallsyms]"),
                             r.file.kernel_release ? r.file.kernel_release : "");
    ok = add_metrics(&r, err) && read_records(&r, err);
    if (ok && r.lost_count > 0)
        cn_import_warn(import, "%" PRIu64 " records were lost while recording",
                       r.lost_count);
    if (ok)
        cn_perf_stacks_warn(&r.stacks, import);
    cn_resolver_free(r.resolver);
    cn_vdso_close(&r.vdso);
    cn_kernel_symbols_done(&r.kernel);
    cn_perf_stacks_done(&r.stacks);
    cn_perf_spaces_done(&r.spaces);
    cn_perf_file_close(&r.file);
    cn_map_done(&r.resolved_of);
    free(r.resolved);
    free(r.frames);
    return ok;
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    (void)is_whole;
    return beginning.len >= 8 && (memcmp(beginning.ptr, CN_PERF_MAGIC, 8) == 0 ||
                                  memcmp(beginning.ptr, CN_PERF_MAGIC_SWAPPED, 8) == 0);
}

static bool probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

static bool open_database(struct cn_database **out, const char *path,
                          struct cn_error *err)
{
    return cn_import_database(out, path, "samples of perf record", cn_perf_read, err);
}

const struct cn_format cn_format_perf = {
    .name = "perf",
    .summary = "perf.data of Linux perf: samples with call chains of each thread",
    .holds = "stacks",
    .is_file = true,
    .probe = probe,
    .open_database = open_database,
};
