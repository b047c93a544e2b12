/* profile.proto read: tables first, then the samples that point into them. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/pprof_format.h"
#include "formats/exchange/read/import.h"
#include "formats/exchange/read/readers.h"

enum {
    LINE_MAX_OF_LOCATION = 256,
    VALUE_MAX = CN_IMPORT_METRIC_MAX,
};

struct location {
    uint32_t first_frame, frame_count; /* in `frames`, the innermost first */
    uint32_t line;                     /* of the innermost; 0 when unknown */
    uint32_t file;                     /* string */
};

struct function {
    uint64_t name, file, line; /* strings; line: where it begins */
};

struct value_type {
    uint32_t metric;
    double scale;
};

struct profile {
    struct cn_import *import;
    struct cn_bytes bytes;
    struct cn_bytes *strings;
    struct function *functions;
    struct cn_bytes *locations_raw;
    uint64_t *location_offs;
    struct location *locations;
    uint64_t *modules; /* strings, by mapping */
    uint32_t *frames;
    struct value_type types[VALUE_MAX];
    struct cn_map function_of, location_of, module_of; /* by id */
    size_t string_count, function_count, location_count, module_count, frame_count;
    size_t string_capacity, function_capacity, raw_capacity, off_capacity, frame_capacity;
    size_t module_capacity, type_count;
    uint32_t *stack; /* locations of a sample */
    size_t stack_capacity;
};

static void done(struct profile *p)
{
    free(p->strings);
    free(p->functions);
    free(p->locations_raw);
    free(p->location_offs);
    free(p->locations);
    free(p->modules);
    free(p->frames);
    free(p->stack);
    cn_map_done(&p->function_of);
    cn_map_done(&p->location_of);
    cn_map_done(&p->module_of);
}

/* Numbers of a message by field number, those below `count`; others are ignored. */
static bool read_numbers(const struct cn_pb_reader *outer,
                         const struct cn_pb_field *field, uint64_t *numbers, size_t count,
                         struct cn_error *err)
{
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD)
        if (inner.number < count && inner.wire == CN_PB_VARINT)
            numbers[inner.number] = inner.value;
    return step == CN_PB_END;
}

static bool add_function(struct profile *p, const struct cn_pb_reader *outer,
                         const struct cn_pb_field *field, struct cn_error *err)
{
    uint64_t numbers[cn_pprof_function_start_line + 1] = {0};

    if (!read_numbers(outer, field, numbers, cn_pprof_function_start_line + 1, err))
        return false;
    p->functions = cn_grow(p->functions, p->function_count, &p->function_capacity,
                           sizeof(*p->functions));
    *cn_map_at(&p->function_of, numbers[cn_pprof_function_id], 0) =
        (uint32_t)p->function_count;
    p->functions[p->function_count++] = (struct function){
        numbers[cn_pprof_function_name], numbers[cn_pprof_function_filename],
        numbers[cn_pprof_function_start_line]};
    return true;
}

static bool add_mapping(struct profile *p, const struct cn_pb_reader *outer,
                        const struct cn_pb_field *field, struct cn_error *err)
{
    uint64_t numbers[cn_pprof_mapping_filename + 1] = {0};

    if (!read_numbers(outer, field, numbers, cn_pprof_mapping_filename + 1, err))
        return false;
    p->modules =
        cn_grow(p->modules, p->module_count, &p->module_capacity, sizeof(*p->modules));
    *cn_map_at(&p->module_of, numbers[cn_pprof_mapping_id], 0) =
        (uint32_t)p->module_count;
    p->modules[p->module_count++] = numbers[cn_pprof_mapping_filename];
    return true;
}

static bool add_to_tables(struct profile *p, const struct cn_pb_reader *outer,
                          const struct cn_pb_field *field, struct cn_error *err)
{
    switch (field->number) {
    case cn_pprof_profile_string_table:
        p->strings = cn_grow(p->strings, p->string_count, &p->string_capacity,
                             sizeof(*p->strings));
        p->strings[p->string_count++] = field->bytes;
        return true;
    case cn_pprof_profile_function:
        return add_function(p, outer, field, err);
    case cn_pprof_profile_mapping:
        return add_mapping(p, outer, field, err);
    case cn_pprof_profile_location:
        p->locations_raw = cn_grow(p->locations_raw, p->location_count, &p->raw_capacity,
                                   sizeof(*p->locations_raw));
        p->location_offs = cn_grow(p->location_offs, p->location_count, &p->off_capacity,
                                   sizeof(*p->location_offs));
        p->location_offs[p->location_count] = field->off;
        p->locations_raw[p->location_count++] = field->bytes;
        return true;
    default:
        return true;
    }
}

static const struct cn_bytes *string_at(const struct profile *p, uint64_t number)
{
    static const struct cn_bytes none = {(const uint8_t *)"", 0};

    return number < p->string_count ? &p->strings[number] : &none;
}

/* A copy for as long as the caller needs it. */
static char *copy_string(const struct profile *p, uint64_t number)
{
    return cn_strdup(cn_import_str(p->import, *string_at(p, number)));
}

static bool add_frame(struct profile *p, const uint64_t numbers[3], uint64_t module,
                      bool is_inlined, struct cn_error *err)
{
    uint32_t at =
        cn_map_find(&p->function_of, numbers[cn_pprof_line_function_id], UINT32_MAX);
    struct function function = {0};
    char *module_path, *file, *name;

    if (at == UINT32_MAX && numbers[cn_pprof_line_function_id] != 0)
        return cn_fail(err, CN_ERR_FORMAT, "function %" PRIu64 " is not there",
                       numbers[cn_pprof_line_function_id]);
    if (at != UINT32_MAX)
        function = p->functions[at];
    module_path = copy_string(p, module);
    file = copy_string(p, function.file);
    name = copy_string(p, function.name);
    p->frames =
        cn_grow(p->frames, p->frame_count, &p->frame_capacity, sizeof(*p->frames));
    p->frames[p->frame_count++] = cn_import_frame(
        p->import, &(struct cn_import_frame){
                       .name = name,
                       .module = module_path,
                       .file = file,
                       .line = function.line <= INT32_MAX ? (uint32_t)function.line : 0,
                       .is_inlined = is_inlined,
                   });
    free(module_path);
    free(file);
    free(name);
    return true;
}

struct location_lines {
    uint64_t numbers[LINE_MAX_OF_LOCATION][3];
    size_t count;
    uint64_t id, mapping, address;
};

static bool read_location(const struct cn_pb_reader *outer, struct location_lines *lines,
                          struct cn_error *err)
{
    struct cn_pb_reader reader = *outer;
    struct cn_pb_field field;
    enum cn_pb_step step;

    lines->count = 0;
    lines->id = lines->mapping = lines->address = 0;
    while ((step = cn_pb_next(&reader, &field, err)) == CN_PB_FIELD) {
        if (field.number == cn_pprof_location_id)
            lines->id = field.value;
        else if (field.number == cn_pprof_location_mapping_id)
            lines->mapping = field.value;
        else if (field.number == cn_pprof_location_address)
            lines->address = field.value;
        if (field.number != cn_pprof_location_line)
            continue;
        if (lines->count == LINE_MAX_OF_LOCATION)
            return cn_fail(err, CN_ERR_LIMIT, "more than %d lines", LINE_MAX_OF_LOCATION);
        memset(lines->numbers[lines->count], 0, sizeof(lines->numbers[0]));
        if (!read_numbers(&reader, &field, lines->numbers[lines->count++], 3, err))
            return false;
    }
    return step == CN_PB_END;
}

/* What has no name is known by its address. */
static void add_unnamed(struct profile *p, uint64_t module, uint64_t address)
{
    char name[32];
    char *path = copy_string(p, module);

    (void)snprintf(name, sizeof(name), "0x%" PRIx64, address);
    p->frames =
        cn_grow(p->frames, p->frame_count, &p->frame_capacity, sizeof(*p->frames));
    p->frames[p->frame_count++] = cn_import_frame(
        p->import,
        &(struct cn_import_frame){
            .name = address ? name : "", .module = path, .file = "", .offset = address});
    free(path);
}

static bool add_location(struct profile *p, size_t i, struct location_lines *lines,
                         struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(p->locations_raw[i]);
    struct location *location = &p->locations[i];
    uint32_t at, function;
    uint64_t module;

    reader.off = p->location_offs[i];
    if (!read_location(&reader, lines, err))
        return false;
    at = cn_map_find(&p->module_of, lines->mapping, UINT32_MAX);
    module = at == UINT32_MAX ? 0 : p->modules[at];
    location->first_frame = (uint32_t)p->frame_count;
    for (size_t k = 0; k < lines->count; k++)
        if (!add_frame(p, lines->numbers[k], module, k + 1 < lines->count, err))
            return false;
    if (lines->count == 0)
        add_unnamed(p, module, lines->address);
    location->frame_count = (uint32_t)p->frame_count - location->first_frame;
    if (lines->count > 0) {
        function = cn_map_find(&p->function_of,
                               lines->numbers[0][cn_pprof_line_function_id], UINT32_MAX);
        if (function != UINT32_MAX && p->functions[function].file < p->string_count &&
            lines->numbers[0][cn_pprof_line_line] != p->functions[function].line &&
            lines->numbers[0][cn_pprof_line_line] <= INT32_MAX) {
            location->file = (uint32_t)p->functions[function].file;
            location->line = (uint32_t)lines->numbers[0][cn_pprof_line_line];
        }
    }
    *cn_map_at(&p->location_of, lines->id, 0) = (uint32_t)i;
    return true;
}

static bool add_locations(struct profile *p, struct cn_error *err)
{
    struct location_lines *lines = cn_alloc(1, sizeof(*lines));
    bool ok = true;

    p->locations = cn_alloc(p->location_count, sizeof(*p->locations));
    for (size_t i = 0; i < p->location_count && ok; i++)
        ok = add_location(p, i, lines, err) ||
             cn_fail_in(err, "location at %" PRIu64, p->location_offs[i]);
    free(lines);
    return ok;
}

static double scale_of(const char *unit)
{
    static const struct {
        const char *unit;
        double scale;
    } times[] = {
        {"nanoseconds", 1e-9},  {"microseconds", 1e-6},
        {"milliseconds", 1e-3}, {"seconds", 1},
        {"ns", 1e-9},           {"us", 1e-6},
        {"ms", 1e-3},           {"s", 1},
    };

    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        if (strcmp(times[i].unit, unit) == 0)
            return times[i].scale;
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Time is in seconds, as everywhere. */
static bool add_type(struct profile *p, const uint64_t numbers[3], struct cn_error *err)
{
    char *type = copy_string(p, numbers[cn_pprof_value_type_type]);
    char *unit = copy_string(p, numbers[cn_pprof_value_type_unit]);
    struct value_type *to = &p->types[p->type_count++];
    struct cn_text name = {0};
    bool ok;

    to->scale = scale_of(unit);
    cn_text_str_add(&name, type[0] ? type : "value");
    if (to->scale != 0 && !ends_with(type, "(sec)"))
        cn_text_str_add(&name, " (sec)");
    else if (to->scale == 0 && unit[0] && strcmp(unit, "count") != 0)
        cn_text_printf(&name, " (%s)", unit);
    if (to->scale == 0)
        to->scale = 1;
    ok = cn_import_metric(p->import, cn_text_str(&name), &to->metric, err);
    cn_text_done(&name);
    free(type);
    free(unit);
    return ok;
}

/* Labels that say which thread it was: numbers under "pid", "tid" or a kind of
 * identity in capitals, and a name. */
struct labels {
    struct cn_import_identity identity;
    char kinds[CN_IMPORT_KIND_MAX][24];
    size_t count;
    char name[256];
};

static bool is_kind(const char *key)
{
    for (size_t i = 0; key[i]; i++)
        if (!isupper((unsigned char)key[i]) && key[i] != '_')
            return false;
    return key[0] != '\0' && strlen(key) < sizeof(((struct labels *)0)->kinds[0]);
}

static void add_label(struct profile *p, const uint64_t numbers[5], struct labels *labels)
{
    const char *key =
        cn_import_str(p->import, *string_at(p, numbers[cn_pprof_label_key]));
    const char *kind = strcmp(key, "pid") == 0 ? "PROCESS"
                       : strcmp(key, "tid") == 0 || strcmp(key, "thread_id") == 0
                           ? "THREAD"
                       : is_kind(key) ? key
                                      : NULL;

    if (strcmp(key, "thread") == 0 && numbers[cn_pprof_label_str] != 0) {
        struct cn_bytes name = *string_at(p, numbers[cn_pprof_label_str]);

        (void)snprintf(
            labels->name, sizeof(labels->name), "%.*s",
            (int)(name.len < sizeof(labels->name) ? name.len : sizeof(labels->name) - 1),
            (const char *)name.ptr);
    } else if (kind && numbers[cn_pprof_label_str] == 0 &&
               labels->count < CN_IMPORT_KIND_MAX) {
        (void)snprintf(labels->kinds[labels->count], sizeof(labels->kinds[0]), "%s",
                       kind);
        labels->identity.numbers[labels->count++] = numbers[cn_pprof_label_num];
    }
}

static bool find_thread(struct profile *p, struct labels *labels, uint32_t *out,
                        struct cn_error *err)
{
    for (size_t i = 0; i < labels->count; i++)
        labels->identity.kinds[i] = labels->kinds[i];
    if (labels->count == 0)
        labels->identity.kinds[0] = "THREAD";
    /* pprof lists "tid" before "pid", people the process before the thread. */
    if (labels->count == 2 && strcmp(labels->kinds[0], "THREAD") == 0) {
        uint64_t number = labels->identity.numbers[0];

        labels->identity.kinds[0] = labels->kinds[1];
        labels->identity.kinds[1] = labels->kinds[0];
        labels->identity.numbers[0] = labels->identity.numbers[1];
        labels->identity.numbers[1] = number;
    }
    labels->identity.name = labels->name;
    return cn_import_thread(p->import, &labels->identity, out, err);
}

struct sample {
    double values[VALUE_MAX];
    size_t value_count, location_count;
    struct labels labels;
};

static bool read_sample_field(struct profile *p, const struct cn_pb_reader *reader,
                              struct cn_pb_field *field, struct sample *sample,
                              struct cn_error *err)
{
    uint64_t number, numbers[cn_pprof_label_num_unit + 1] = {0};

    switch (field->number) {
    case cn_pprof_sample_location_id:
        while (cn_pb_next_number(field, &number)) {
            uint32_t at = cn_map_find(&p->location_of, number, UINT32_MAX);

            if (at == UINT32_MAX)
                return cn_fail(err, CN_ERR_FORMAT, "location %" PRIu64 " is not there",
                               number);
            p->stack = cn_grow(p->stack, sample->location_count, &p->stack_capacity,
                               sizeof(*p->stack));
            p->stack[sample->location_count++] = at;
        }
        return true;
    case cn_pprof_sample_value:
        while (sample->value_count < p->type_count && cn_pb_next_number(field, &number))
            sample->values[sample->value_count++] = (double)cn_pb_as_i64(number);
        return true;
    case cn_pprof_sample_label:
        if (!read_numbers(reader, field, numbers, cn_pprof_label_num_unit + 1, err))
            return false;
        add_label(p, numbers, &sample->labels);
        return true;
    default:
        return true;
    }
}

static uint32_t context_of(struct profile *p, const struct sample *sample)
{
    uint32_t context = 0;
    size_t depth = 0;

    for (size_t i = sample->location_count; i-- > 0;) {
        const struct location *location = &p->locations[p->stack[i]];

        for (uint32_t k = location->frame_count; k-- > 0;)
            if (depth++ < CN_IMPORT_DEPTH_MAX)
                context = cn_import_call(p->import, context,
                                         p->frames[location->first_frame + k]);
        if (i == 0 && location->line > 0 && depth <= CN_IMPORT_DEPTH_MAX)
            context = cn_import_line(
                p->import, context,
                cn_import_str(p->import, *string_at(p, location->file)), location->line);
    }
    return context;
}

static bool add_sample(struct profile *p, const struct cn_pb_reader *outer,
                       const struct cn_pb_field *field, struct cn_error *err)
{
    struct sample sample = {.labels.name = ""};
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;
    uint32_t thread, context;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD)
        if (!read_sample_field(p, &reader, &inner, &sample, err))
            return false;
    if (step != CN_PB_END || !find_thread(p, &sample.labels, &thread, err))
        return false;
    context = context_of(p, &sample);
    for (size_t i = 0; i < sample.value_count; i++)
        if (sample.values[i] != 0 &&
            !cn_import_add(p->import, thread, context, p->types[i].metric,
                           sample.values[i] * p->types[i].scale, err))
            return false;
    return true;
}

static bool read_tables(struct profile *p, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(p->bytes);
    struct cn_pb_field field;
    enum cn_pb_step step;

    while ((step = cn_pb_next(&reader, &field, err)) == CN_PB_FIELD)
        if (field.wire == CN_PB_BYTES && !add_to_tables(p, &reader, &field, err))
            return false;
    if (step != CN_PB_END)
        return false;
    if (p->string_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no table of strings");
    return true;
}

static bool read_types(struct profile *p, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(p->bytes);
    struct cn_pb_field field;
    enum cn_pb_step step;

    while ((step = cn_pb_next(&reader, &field, err)) == CN_PB_FIELD) {
        uint64_t numbers[3] = {0};

        if (field.number != cn_pprof_profile_sample_type)
            continue;
        if (p->type_count == VALUE_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "more than %d types of values", VALUE_MAX);
        if (!read_numbers(&reader, &field, numbers, 3, err) || !add_type(p, numbers, err))
            return false;
    }
    return step == CN_PB_END;
}

static bool read_samples(struct profile *p, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(p->bytes);
    struct cn_pb_field field;
    enum cn_pb_step step;

    while ((step = cn_pb_next(&reader, &field, err)) == CN_PB_FIELD)
        if (field.number == cn_pprof_profile_sample &&
            !add_sample(p, &reader, &field, err))
            return cn_fail_in(err, "sample at %" PRIu64, field.off);
    return step == CN_PB_END;
}

bool cn_pprof_read(struct cn_import *import, struct cn_bytes bytes, struct cn_error *err)
{
    struct profile p = {.import = import, .bytes = bytes};
    bool ok = read_tables(&p, err) && add_locations(&p, err) && read_types(&p, err) &&
              read_samples(&p, err);

    done(&p);
    return ok;
}

/* Fields of a profile and nothing else. A message of traces begins the same way, but
 * has messages where the first type of values has numbers. */
static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    struct cn_pb_reader reader = cn_pb_read(beginning);
    struct cn_error ignored;
    struct cn_pb_field field;
    size_t count = 0;

    (void)is_whole;
    while (cn_pb_next(&reader, &field, &ignored) == CN_PB_FIELD) {
        bool is_message = field.number <= cn_pprof_profile_string_table;

        if (field.number > 15 || is_message != (field.wire == CN_PB_BYTES))
            return field.number == cn_pprof_profile_comment && count > 0;
        if (field.number == cn_pprof_profile_sample_type &&
            (field.bytes.len == 0 || (field.bytes.ptr[0] & 7) != CN_PB_VARINT))
            return false;
        count++;
    }
    return count > 1;
}

bool cn_pprof_probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

bool cn_pprof_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "pprof profile", cn_pprof_read, err);
}
