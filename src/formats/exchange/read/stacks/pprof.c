/* Reader of profile.proto: the tables first, then the samples that point into them. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/pprof_format.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/memory/metrics.h"

enum {
    LOCATION_LINE_MAX = 256,
    VALUE_MAX = CN_IMPORT_METRIC_MAX,
};

struct pprof_location {
    struct cn_pb_field field;          /* the message */
    uint32_t first_frame, frame_count; /* in `frames`, the innermost first */
    uint32_t line;                     /* of the innermost; 0 if unknown */
    uint32_t file;                     /* string */
};

struct pprof_function {
    uint64_t name, file; /* strings */
    uint64_t line;       /* of its definition */
};

struct value_type {
    uint64_t type, unit; /* strings */
    uint32_t metric;
    double scale;
};

/* How often something is wrong, and the first time. */
struct pprof_damage {
    uint64_t count;
    struct cn_error first;
};

struct pprof_profile {
    struct cn_import *import;
    struct cn_bytes bytes;       /* whole fields only, after the first pass */
    struct pprof_damage cut;     /* at most once: where `bytes` ends */
    struct pprof_damage skipped; /* messages whose fields cannot be read */
    struct pprof_damage missing; /* locations, functions, strings */
    uint64_t sample_count;
    struct cn_bytes *strings;
    struct pprof_function *functions;
    struct pprof_location *locations;
    uint64_t *modules; /* strings, by mapping */
    uint32_t *frames;
    struct value_type types[VALUE_MAX];
    struct cn_map function_of, location_of, module_of; /* by id */
    uint32_t unknown_at; /* the location in place of missing ones; or UINT32_MAX */
    size_t string_count, function_count, location_count, module_count, frame_count;
    size_t string_capacity, function_capacity, location_capacity, frame_capacity;
    size_t module_capacity, type_count;
    uint64_t default_type; /* a string; the empty one: none is given */
    uint32_t *stack;       /* locations of a sample */
    size_t stack_capacity;
    uint64_t label_count;       /* that identify no thread */
    uint64_t caller_line_count; /* in stacks */
    uint64_t fact_count;        /* time, duration, period, frames to hide, comments */
};

static void done(struct pprof_profile *p)
{
    free(p->strings);
    free(p->functions);
    free(p->locations);
    free(p->modules);
    free(p->frames);
    free(p->stack);
    cn_map_done(&p->function_of);
    cn_map_done(&p->location_of);
    cn_map_done(&p->module_of);
}

/* Count damage, and go on: false if the error is not about damage. */
static bool bear(struct pprof_damage *damage, const struct cn_error *err)
{
    if (err->kind != CN_ERR_FORMAT)
        return false;
    if (damage->count++ == 0)
        damage->first = *err;
    return true;
}

static void miss(struct pprof_profile *p, const char *what, uint64_t number)
{
    struct cn_error err;

    (void)cn_fail(&err, CN_ERR_FORMAT, "%s %" PRIu64, what, number);
    (void)bear(&p->missing, &err);
}

/* Skip a message that is wrong inside: where the next one begins is known. */
static bool skip(struct pprof_profile *p, const char *what,
                 const struct cn_pb_field *field, struct cn_error *err)
{
    (void)cn_fail_in(err, "%s at %" PRIu64, what, field->off);
    return bear(&p->skipped, err);
}

/* The numbers of a message, by field number. */
struct pprof_numbers {
    uint64_t list[8];
};

static bool take_number(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct pprof_numbers *numbers = arg;

    (void)reader, (void)err;
    if (field->number < sizeof(numbers->list) / sizeof(*numbers->list) &&
        field->wire == CN_PB_VARINT)
        numbers->list[field->number] = field->value;
    return true;
}

static bool read_numbers(const struct cn_pb_reader *outer,
                         const struct cn_pb_field *field, struct pprof_numbers *out,
                         struct cn_error *err)
{
    *out = (struct pprof_numbers){0};
    return cn_pb_read_message(outer, field, take_number, out, err);
}

static bool take_table(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct pprof_profile *p = arg;
    struct pprof_numbers numbers;

    if (field->wire != CN_PB_BYTES)
        return true;
    switch (field->number) {
    case cn_pprof_profile_string_table:
        CN_PUSH(p->strings, p->string_count, p->string_capacity, field->bytes);
        return true;
    case cn_pprof_profile_function:
        if (!read_numbers(reader, field, &numbers, err))
            return skip(p, "function", field, err);
        CN_GROW(p->functions, p->function_count, p->function_capacity);
        *cn_map_at(&p->function_of, numbers.list[cn_pprof_function_id], 0) =
            (uint32_t)p->function_count;
        p->functions[p->function_count++] =
            (struct pprof_function){numbers.list[cn_pprof_function_name],
                                    numbers.list[cn_pprof_function_filename],
                                    numbers.list[cn_pprof_function_start_line]};
        return true;
    case cn_pprof_profile_mapping:
        if (!read_numbers(reader, field, &numbers, err))
            return skip(p, "mapping", field, err);
        CN_GROW(p->modules, p->module_count, p->module_capacity);
        *cn_map_at(&p->module_of, numbers.list[cn_pprof_mapping_id], 0) =
            (uint32_t)p->module_count;
        p->modules[p->module_count++] = numbers.list[cn_pprof_mapping_filename];
        return true;
    case cn_pprof_profile_location:
        CN_PUSH(p->locations, p->location_count, p->location_capacity,
                (struct pprof_location){.field = *field});
        return true;
    case cn_pprof_profile_sample:
        p->sample_count++;
        return true;
    default:
        return true;
    }
}

static struct cn_bytes bytes_at(struct pprof_profile *p, uint64_t number)
{
    if (number < p->string_count)
        return p->strings[number];
    if (number > 0)
        miss(p, "string", number);
    return (struct cn_bytes){(const uint8_t *)"", 0};
}

/* Valid until the next call. */
static const char *string_at(struct pprof_profile *p, uint64_t number)
{
    return cn_import_str(p->import, bytes_at(p, number));
}

/* A copy, to be released with free(). */
static char *copy_string(struct pprof_profile *p, uint64_t number)
{
    return cn_strdup(string_at(p, number));
}

/* A location: its numbers, and those of its lines, the innermost first. */
struct location_lines {
    struct pprof_numbers numbers;
    struct pprof_numbers lines[LOCATION_LINE_MAX];
    size_t count;
};

static bool take_location(void *arg, const struct cn_pb_reader *reader,
                          struct cn_pb_field *field, struct cn_error *err)
{
    struct location_lines *lines = arg;

    if (field->number != cn_pprof_location_line)
        return take_number(&lines->numbers, reader, field, err);
    if (lines->count == LOCATION_LINE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d lines", LOCATION_LINE_MAX);
    return read_numbers(reader, field, &lines->lines[lines->count++], err);
}

static void add_frame(struct pprof_profile *p, const struct cn_import_frame *frame)
{
    CN_PUSH(p->frames, p->frame_count, p->frame_capacity,
            cn_import_frame(p->import, frame));
}

/* A line is a frame; all lines except the last are inlined calls. */
static void add_line(struct pprof_profile *p, uint64_t function_id, const char *module,
                     bool is_inlined)
{
    uint32_t at = cn_map_find(&p->function_of, function_id, UINT32_MAX);
    struct pprof_function function = {0};

    if (at == UINT32_MAX && function_id != 0)
        miss(p, "function", function_id);
    if (at != UINT32_MAX)
        function = p->functions[at];
    char *file = copy_string(p, function.file);
    char *name = copy_string(p, function.name);
    add_frame(p, &(struct cn_import_frame){
                     .name = name,
                     .module = module,
                     .file = file,
                     .line = function.line <= INT32_MAX ? (uint32_t)function.line : 0,
                     .is_inlined = is_inlined,
                 });
    free(file);
    free(name);
}

/* A location without a function has its address as the name. */
static void add_unnamed(struct pprof_profile *p, uint64_t address, const char *module)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "0x%" PRIx64, address);
    add_frame(p, &(struct cn_import_frame){.name = address ? name : "",
                                           .module = module,
                                           .file = "",
                                           .offset = address});
}

/* The line of the innermost frame, unless it is that of the definition. */
static void add_source_line(const struct pprof_profile *p,
                            struct pprof_location *location,
                            const struct pprof_numbers *line)
{
    uint64_t number = line->list[cn_pprof_line_line];
    uint32_t at =
        cn_map_find(&p->function_of, line->list[cn_pprof_line_function_id], UINT32_MAX);

    if (at == UINT32_MAX || p->functions[at].file >= p->string_count ||
        number == p->functions[at].line || number > INT32_MAX)
        return;
    location->file = (uint32_t)p->functions[at].file;
    location->line = (uint32_t)number;
}

static bool add_location(struct pprof_profile *p, size_t i, struct location_lines *lines,
                         struct cn_error *err)
{
    struct pprof_location *location = &p->locations[i];
    struct cn_pb_reader top = {0};

    lines->numbers = (struct pprof_numbers){0};
    lines->count = 0;
    if (!cn_pb_read_message(&top, &location->field, take_location, lines, err))
        return skip(p, "location", &location->field, err);
    uint32_t at = cn_map_find(
        &p->module_of, lines->numbers.list[cn_pprof_location_mapping_id], UINT32_MAX);
    char *module = copy_string(p, at == UINT32_MAX ? 0 : p->modules[at]);
    location->first_frame = (uint32_t)p->frame_count;
    for (size_t k = 0; k < lines->count; k++)
        add_line(p, lines->lines[k].list[cn_pprof_line_function_id], module,
                 k + 1 < lines->count);
    if (lines->count == 0)
        add_unnamed(p, lines->numbers.list[cn_pprof_location_address], module);
    else
        add_source_line(p, location, &lines->lines[0]);
    free(module);
    location->frame_count = (uint32_t)p->frame_count - location->first_frame;
    *cn_map_at(&p->location_of, lines->numbers.list[cn_pprof_location_id], 0) =
        (uint32_t)i;
    return true;
}

static bool add_locations(struct pprof_profile *p, struct cn_error *err)
{
    struct location_lines *lines = cn_alloc(1, sizeof(*lines));
    bool ok = true;

    for (size_t i = 0; i < p->location_count && ok; i++)
        ok = add_location(p, i, lines, err);
    free(lines);
    return ok;
}

/* Times become seconds. */
static bool add_type(struct pprof_profile *p, struct value_type *to, struct cn_error *err)
{
    char *type = copy_string(p, to->type);
    char *unit = copy_string(p, to->unit);
    const char *suffix = strrchr(type, '(');
    struct cn_text name = {0};

    enum cn_heap_metric heap = cn_heap_metric_of_pprof(type, unit);

    to->scale = cn_duration_unit_ns(unit) / 1e9;
    /* Types whose names are cut off are not one type. */
    if (to->type > 0 && to->type >= p->string_count)
        cn_text_printf(&name, "value %td", to - p->types + 1);
    else
        cn_text_str_add(&name, type[0] ? type : "value");
    if (to->scale != 0 && !(suffix && strcmp(suffix, "(sec)") == 0))
        cn_text_str_add(&name, " (sec)");
    else if (to->scale == 0 && unit[0] && strcmp(unit, "count") != 0)
        cn_text_printf(&name, " (%s)", unit);
    if (to->scale == 0)
        to->scale = 1;
    bool ok = cn_import_metric(p->import,
                               heap < CN_HEAP_METRIC_COUNT ? cn_heap_metric_name(heap)
                                                           : cn_text_str(&name),
                               &to->metric, err);
    cn_text_done(&name);
    free(type);
    free(unit);
    return ok;
}

static bool take_type(void *arg, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, struct cn_error *err)
{
    struct pprof_profile *p = arg;
    struct pprof_numbers numbers;

    p->fact_count += field->number > cn_pprof_profile_string_table &&
                     field->number != cn_pprof_profile_default_sample_type;
    if (field->number == cn_pprof_profile_default_sample_type)
        p->default_type = field->value;
    if (field->number != cn_pprof_profile_sample_type)
        return true;
    if (p->type_count == VALUE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d types of values", VALUE_MAX);
    /* Also of a type that is wrong: values are in the order of types. */
    if (!read_numbers(reader, field, &numbers, err) &&
        !skip(p, "sample type", field, err))
        return false;
    p->types[p->type_count++] =
        (struct value_type){.type = numbers.list[cn_pprof_value_type_type],
                            .unit = numbers.list[cn_pprof_value_type_unit]};
    return true;
}

/* The type that pprof shows if none is chosen: the one that is named, else the last. */
static size_t default_type(struct pprof_profile *p)
{
    char *name = copy_string(p, p->default_type);
    size_t at = p->type_count - 1;

    for (size_t i = 0; i < p->type_count && name[0]; i++)
        if (strcmp(string_at(p, p->types[i].type), name) == 0)
            at = i;
    free(name);
    return at;
}

/* The first metric is what views show if none is chosen. */
static bool add_types(struct pprof_profile *p, struct cn_error *err)
{
    size_t first = default_type(p); /* with no types, none of them */
    bool ok = p->type_count == 0 || add_type(p, &p->types[first], err);

    for (size_t i = 0; i < p->type_count && ok; i++)
        ok = i == first || add_type(p, &p->types[i], err);
    return ok;
}

/* The labels that identify a thread: numbers with the key "pid", "tid" or a kind of
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

static void add_label(struct pprof_profile *p, const struct pprof_numbers *numbers,
                      struct labels *labels)
{
    const char *key = string_at(p, numbers->list[cn_pprof_label_key]);
    uint64_t text = numbers->list[cn_pprof_label_str];
    const char *kind = strcmp(key, "pid") == 0 ? "PROCESS"
                       : strcmp(key, "tid") == 0 || strcmp(key, "thread_id") == 0
                           ? "THREAD"
                       : is_kind(key) ? key
                                      : NULL;

    if (strcmp(key, "thread") == 0 && text != 0) {
        (void)snprintf(labels->name, sizeof(labels->name), "%s", string_at(p, text));
    } else if (kind && text == 0 && labels->count < CN_IMPORT_KIND_MAX) {
        (void)snprintf(labels->kinds[labels->count], sizeof(labels->kinds[0]), "%s",
                       kind);
        labels->identity.numbers[labels->count++] = numbers->list[cn_pprof_label_num];
    } else {
        p->label_count++;
    }
}

static bool find_thread(struct pprof_profile *p, struct labels *labels, uint32_t *out,
                        struct cn_error *err)
{
    for (size_t i = 0; i < labels->count; i++)
        labels->identity.kinds[i] = labels->kinds[i];
    if (labels->count == 0)
        labels->identity.kinds[0] = "THREAD";
    /* pprof lists "tid" before "pid"; an identity begins with the process. */
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

static uint32_t unknown_location(struct pprof_profile *p, uint64_t id)
{
    miss(p, "location", id);
    if (p->unknown_at == UINT32_MAX) {
        p->unknown_at = (uint32_t)p->location_count;
        CN_PUSH(p->locations, p->location_count, p->location_capacity,
                (struct pprof_location){.first_frame = (uint32_t)p->frame_count,
                                        .frame_count = 1});
        add_unnamed(p, 0, "");
    }
    return p->unknown_at;
}

struct sample {
    struct pprof_profile *p;
    double values[VALUE_MAX];
    size_t value_count, location_count;
    struct labels labels;
};

static bool take_sample(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct sample *sample = arg;
    struct pprof_profile *p = sample->p;
    struct pprof_numbers numbers;
    uint64_t number;

    switch (field->number) {
    case cn_pprof_sample_location_id:
        while (cn_pb_next_number(field, &number)) {
            uint32_t at = cn_map_find(&p->location_of, number, UINT32_MAX);

            if (at == UINT32_MAX)
                at = unknown_location(p, number);
            CN_PUSH(p->stack, sample->location_count, p->stack_capacity, at);
        }
        return true;
    case cn_pprof_sample_value:
        while (sample->value_count < p->type_count && cn_pb_next_number(field, &number))
            sample->values[sample->value_count++] = (double)cn_pb_as_i64(number);
        return true;
    case cn_pprof_sample_label:
        if (!read_numbers(reader, field, &numbers, err))
            return false;
        add_label(p, &numbers, &sample->labels);
        return true;
    default:
        return true;
    }
}

static uint32_t context_of(struct pprof_profile *p, const struct sample *sample)
{
    uint32_t context = 0;
    size_t depth = 0;

    for (size_t i = sample->location_count; i-- > 0;) {
        const struct pprof_location *location = &p->locations[p->stack[i]];

        for (uint32_t k = location->frame_count; k-- > 0;)
            if (depth++ < CN_IMPORT_DEPTH_MAX)
                context = cn_import_call(p->import, context,
                                         p->frames[location->first_frame + k]);
        p->caller_line_count += i > 0 && location->line > 0;
        if (i == 0 && location->line > 0 && depth <= CN_IMPORT_DEPTH_MAX)
            context = cn_import_line(p->import, context, string_at(p, location->file),
                                     location->line);
    }
    return context;
}

static bool add_sample(struct pprof_profile *p, const struct cn_pb_reader *outer,
                       const struct cn_pb_field *field, struct cn_error *err)
{
    struct sample sample = {.p = p};
    uint32_t thread, context;

    if (!cn_pb_read_message(outer, field, take_sample, &sample, err) ||
        !find_thread(p, &sample.labels, &thread, err))
        return false;
    context = context_of(p, &sample);
    for (size_t i = 0; i < sample.value_count; i++)
        if (sample.values[i] != 0 &&
            !cn_import_add(p->import, thread, context, p->types[i].metric,
                           sample.values[i] * p->types[i].scale, err))
            return false;
    return true;
}

static bool take_samples(void *arg, const struct cn_pb_reader *reader,
                         struct cn_pb_field *field, struct cn_error *err)
{
    return field->number != cn_pprof_profile_sample ||
           add_sample(arg, reader, field, err) || skip(arg, "sample", field, err);
}

/* One pass over the fields of the profile. */
static bool read_pass(struct pprof_profile *p, cn_pb_field_fn take, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(p->bytes);

    return cn_pb_read_fields(&reader, take, p, err);
}

/* The pass over the tables finds where whole fields end. */
static bool read_tables(struct pprof_profile *p, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(p->bytes);

    if (cn_pb_read_fields(&reader, take_table, p, err) &&
        (p->string_count > 0 ||
         cn_fail(err, CN_ERR_FORMAT, "no string table before the end at %zu",
                 p->bytes.len)))
        return true;
    p->bytes.len -= reader.rest.len;
    return p->sample_count > 0 && bear(&p->cut, err);
}

static void warn(const struct pprof_profile *p)
{
    if (p->cut.count > 0)
        cn_import_warn(p->import, true, "%s; read up to there", p->cut.first.text);
    if (p->skipped.count > 0)
        cn_import_warn(p->import, true,
                       "messages that cannot be read are skipped: %" PRIu64
                       "; the first: %s",
                       p->skipped.count, p->skipped.first.text);
    if (p->missing.count > 0)
        cn_import_warn(p->import, true,
                       "locations, functions and strings that are missing: %" PRIu64
                       "; the first is %s",
                       p->missing.count, p->missing.first.text);
}

bool cn_pprof_read(struct cn_import *import, struct cn_bytes bytes, struct cn_error *err)
{
    struct pprof_profile p = {.import = import, .bytes = bytes, .unknown_at = UINT32_MAX};
    bool ok = read_tables(&p, err) && add_locations(&p, err) &&
              read_pass(&p, take_type, err) && add_types(&p, err) &&
              read_pass(&p, take_samples, err);

    warn(&p);
    /* A damaged file is written anew. */
    if (p.cut.count + p.skipped.count + p.missing.count == 0)
        cn_import_copied_as(import, "pprof");
    cn_import_lose(import, "labels of samples that identify no thread", p.label_count);
    cn_import_lose(import, "lines of callers", p.caller_line_count);
    cn_import_lose(import, "facts of the profile (time, duration, period, comments)",
                   p.fact_count);
    done(&p);
    return ok;
}

enum { FIELD_LAST = 15 }; /* those of later versions come after others */

/* Only fields of a profile, with their wire types. An OTLP message also begins with field 1,
 * but has messages where a sample type has numbers. */
static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    struct cn_pb_reader reader = cn_pb_read(beginning);
    struct cn_error ignored;
    struct cn_pb_field field;
    size_t count = 0;

    (void)is_whole;
    while (cn_pb_next(&reader, &field, &ignored) == CN_PB_FIELD) {
        bool is_bytes = field.number <= cn_pprof_profile_string_table ||
                        field.number == cn_pprof_profile_period_type;

        if (field.number > FIELD_LAST && count > 0)
            continue;
        if (field.number > FIELD_LAST || is_bytes != (field.wire == CN_PB_BYTES))
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
