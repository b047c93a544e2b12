/* Reader of the heap profiles in Perfetto traces, of heapprofd. Each dump has sums since the start by
 * call stack, so the last one of a stack counts. Strings, frames and stacks are interned for a sequence
 * of packets, or, on Android 10, in the packet. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/perfetto_format.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/memory/metrics.h"

enum { PATH_LEN_MAX = 4096, FIELD_COUNT = 16, VALUE_COUNT = 5 };

/* What is interned, by kind. */
enum interned { NAMES, PATHS, MAPPINGS, FRAMES, STACKS, TABLES };

/* The metrics of samples, in the order of their table. */
static const enum cn_heap_metric metrics[VALUE_COUNT] = {
    CN_HEAP_BYTES,          CN_HEAP_CALLS,     CN_HEAP_LIVE_END,
    CN_HEAP_LIVE_END_CALLS, CN_HEAP_LIVE_PEAK,
};

struct heapprofd_sample {
    uint32_t thread, context;
    double values[VALUE_COUNT];
};

struct heapprofd {
    struct cn_import *import;
    uint64_t sequence, bad_count, broken_count;
    uint64_t pid;          /* of the dump that is read */
    struct cn_bytes heap;  /* and its name */
    struct cn_names heaps; /* numbered */
    struct cn_bytes heap_name;
    struct cn_map
        tables[TABLES]; /* by sequence and number: a string, a frame, a context */
    struct cn_names strings;
    struct cn_map thread_of; /* by pid and heap */
    struct cn_map sample_of; /* by thread and context */
    struct heapprofd_sample *samples;
    size_t sample_count, sample_capacity;
    enum interned strings_are; /* of the message that is read */
};

/* Numbers by field, and what else a message has. */
struct heapprofd_message {
    struct heapprofd *h;
    uint64_t numbers[FIELD_COUNT];
    struct cn_bytes text;
    uint64_t *list;
    size_t list_count, list_capacity;
    uint32_t list_field;
};

static uint64_t key_of(const struct heapprofd *h, uint64_t number)
{
    return h->sequence * UINT64_C(0x9e3779b97f4a7c15) ^ number;
}

static uint32_t find(const struct heapprofd *h, enum interned table, uint64_t number)
{
    return cn_map_find(&h->tables[table], key_of(h, number), CN_NONE);
}

static void define(struct heapprofd *h, enum interned table, uint64_t number,
                   uint32_t value)
{
    *cn_map_at(&h->tables[table], key_of(h, number), value) = value;
}

static uint32_t add_string(struct heapprofd *h, struct cn_bytes text)
{
    char *copy = cn_word_copy(text);
    uint32_t number = cn_names_add(&h->strings, copy);

    free(copy);
    return number;
}

static const char *string_at(const struct heapprofd *h, enum interned table,
                             uint64_t number)
{
    uint32_t at = find(h, table, number);

    return at == CN_NONE ? "" : h->strings.list[at];
}

static bool take_field(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct heapprofd_message *m = arg;
    uint64_t number;

    (void)reader, (void)err;
    if (field->number == m->list_field) {
        while (cn_pb_next_number(field, &number))
            CN_PUSH(m->list, m->list_count, m->list_capacity, number);
        return true;
    }
    if (field->wire == CN_PB_BYTES)
        m->text = field->bytes;
    else if (field->number < FIELD_COUNT)
        m->numbers[field->number] = field->value;
    return true;
}

static bool read_message(struct heapprofd *h, const struct cn_pb_reader *reader,
                         const struct cn_pb_field *field, uint32_t list_field,
                         struct heapprofd_message *out, struct cn_error *err)
{
    *out = (struct heapprofd_message){.h = h, .list_field = list_field};
    return cn_pb_read_message(reader, field, take_field, out, err);
}

/* A path has parts that are strings of their own: a short entry may ask for a long string many times. */
static void define_mapping(struct heapprofd *h, const struct heapprofd_message *m)
{
    struct cn_text path = {0};

    for (size_t i = 0; i < m->list_count && path.len < PATH_LEN_MAX; i++)
        cn_text_printf(&path, "/%.*s", PATH_LEN_MAX, string_at(h, PATHS, m->list[i]));
    define(
        h, MAPPINGS, m->numbers[cn_perfetto_mapping_iid],
        add_string(h, (struct cn_bytes){(const uint8_t *)cn_text_str(&path), path.len}));
    cn_text_done(&path);
}

/* A function without a name is its place in the file. */
static void define_frame(struct heapprofd *h, const struct heapprofd_message *m)
{
    const char *module = string_at(h, MAPPINGS, m->numbers[cn_perfetto_frame_mapping_id]);
    const char *name =
        string_at(h, NAMES, m->numbers[cn_perfetto_frame_function_name_id]);
    const char *last = strrchr(module, '/');
    struct cn_text unnamed = {0};

    if (!*name && *module) {
        cn_text_printf(&unnamed, "%s+0x%" PRIx64, last ? last + 1 : module,
                       m->numbers[cn_perfetto_frame_rel_pc]);
        name = cn_text_str(&unnamed);
    }
    define(h, FRAMES, m->numbers[cn_perfetto_frame_iid],
           cn_import_frame(h->import, &(struct cn_import_frame){
                                          .name = name, .module = module, .file = ""}));
    cn_text_done(&unnamed);
}

static void define_stack(struct heapprofd *h, const struct heapprofd_message *m)
{
    uint32_t context = 0;

    for (size_t i = 0; i < m->list_count && i < CN_IMPORT_DEPTH_MAX; i++) {
        uint32_t frame = find(h, FRAMES, m->list[i]);

        if (frame == CN_NONE)
            frame = cn_import_frame(h->import, &(struct cn_import_frame){
                                                   .name = "", .module = "", .file = ""});
        context = cn_import_call(h->import, context, frame);
    }
    define(h, STACKS, m->numbers[cn_perfetto_callstack_iid], context);
}

/* An entry of a table: numbers of all kinds of entries are in field 1. */
static bool intern(struct heapprofd *h, const struct cn_pb_reader *reader,
                   const struct cn_pb_field *field, enum interned table,
                   struct cn_error *err)
{
    static const uint32_t list_fields[TABLES] = {
        [MAPPINGS] = cn_perfetto_mapping_path_string_ids,
        [STACKS] = cn_perfetto_callstack_frame_ids,
    };
    struct heapprofd_message m;
    bool ok = read_message(h, reader, field, list_fields[table], &m, err);

    if (ok && (table == NAMES || table == PATHS))
        define(h, table, m.numbers[cn_perfetto_name_iid], add_string(h, m.text));
    if (ok && table == MAPPINGS)
        define_mapping(h, &m);
    if (ok && table == FRAMES)
        define_frame(h, &m);
    if (ok && table == STACKS)
        define_stack(h, &m);
    free(m.list);
    return ok;
}

static bool take_interned(void *arg, const struct cn_pb_reader *reader,
                          struct cn_pb_field *field, struct cn_error *err)
{
    static const uint32_t fields[TABLES] = {
        [NAMES] = cn_perfetto_interned_function_names,
        [PATHS] = cn_perfetto_interned_mapping_paths,
        [MAPPINGS] = cn_perfetto_interned_mappings,
        [FRAMES] = cn_perfetto_interned_frames,
        [STACKS] = cn_perfetto_interned_callstacks,
    };
    struct heapprofd *h = arg;

    /* Entries refer to those of tables before, in any order of fields: one table at a time. */
    return field->number != fields[h->strings_are] ||
           intern(h, reader, field, h->strings_are, err);
}

/* Another heap of a process, as that of Java, is shown as a thread of its own. */
#define USUAL_HEAP "libc.malloc"

static uint32_t thread_of(struct heapprofd *h, struct cn_error *err)
{
    char *name = cn_word_copy(h->heap);
    uint32_t heap = cn_names_add(&h->heaps, strcmp(name, USUAL_HEAP) == 0 ? "" : name);
    uint64_t key = h->pid << 16 ^ heap;
    uint32_t thread = cn_map_find(&h->thread_of, key, CN_NONE);

    free(name);
    if (thread != CN_NONE)
        return thread;
    if (!cn_import_thread(h->import,
                          &(struct cn_import_identity){
                              .kinds = {"PROCESS"},
                              .numbers = {h->pid},
                              .name = h->heaps.list[heap],
                          },
                          &thread, err))
        return CN_NONE;
    *cn_map_at(&h->thread_of, key, thread) = thread;
    return thread;
}

static double less(uint64_t all, uint64_t part)
{
    return all > part ? (double)(all - part) : 0;
}

static bool take_sample(struct heapprofd *h, const struct heapprofd_message *m,
                        struct cn_error *err)
{
    const uint64_t *n = m->numbers;
    uint32_t thread = thread_of(h, err);
    uint32_t context = find(h, STACKS, n[cn_perfetto_heap_sample_callstack_id]);
    uint64_t allocated = n[cn_perfetto_heap_sample_self_allocated];
    uint64_t count = n[cn_perfetto_heap_sample_alloc_count];
    struct heapprofd_sample sample = {
        thread,
        context,
        {(double)allocated, (double)count,
         less(allocated, n[cn_perfetto_heap_sample_self_freed]),
         less(count, n[cn_perfetto_heap_sample_free_count]),
         (double)n[cn_perfetto_heap_sample_self_max]}};

    if (thread == CN_NONE)
        return false;
    if (context == CN_NONE) {
        h->bad_count++;
        sample.context = cn_import_unknown(h->import);
    }
    uint32_t at = *cn_map_at(&h->sample_of, (uint64_t)thread << 32 | sample.context,
                             (uint32_t)h->sample_count);
    if (at == h->sample_count) {
        CN_PUSH(h->samples, h->sample_count, h->sample_capacity, sample);
    } else {
        h->samples[at] = sample;
    }
    return true;
}

static bool take_dump(void *arg, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, struct cn_error *err)
{
    struct heapprofd *h = arg;
    struct heapprofd_message m;

    if (field->number == cn_perfetto_heap_buffer_overran ||
        field->number == cn_perfetto_heap_buffer_corrupted ||
        field->number == cn_perfetto_heap_rejected_concurrent)
        h->broken_count += field->value != 0;
    if (field->number != cn_perfetto_heap_samples)
        return true;
    bool ok = read_message(h, reader, field, 0, &m, err) && take_sample(h, &m, err);
    free(m.list);
    return ok;
}

static bool take_owner(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct heapprofd *h = arg;

    (void)reader, (void)err;
    if (field->number == cn_perfetto_heap_pid)
        h->pid = field->value;
    if (field->number == cn_perfetto_heap_heap_name && field->wire == CN_PB_BYTES)
        h->heap = field->bytes;
    return true;
}

/* Tables first, then the dumps: which come in any order. */
static bool take_profile(void *arg, const struct cn_pb_reader *reader,
                         struct cn_pb_field *field, struct cn_error *err)
{
    static const uint32_t fields[TABLES] = {
        [NAMES] = cn_perfetto_profile_strings,     [PATHS] = cn_perfetto_profile_strings,
        [MAPPINGS] = cn_perfetto_profile_mappings, [FRAMES] = cn_perfetto_profile_frames,
        [STACKS] = cn_perfetto_profile_callstacks,
    };
    struct heapprofd *h = arg;

    if (h->strings_are < TABLES)
        return field->number != fields[h->strings_are] ||
               intern(h, reader, field, h->strings_are, err);
    h->pid = 0;
    h->heap = (struct cn_bytes){(const uint8_t *)"", 0};
    return field->number != cn_perfetto_profile_process_dumps ||
           (cn_pb_read_message(reader, field, take_owner, h, err) &&
            cn_pb_read_message(reader, field, take_dump, h, err));
}

struct packet {
    uint64_t sequence;
    struct cn_pb_field interned, profile;
    bool has_interned, has_profile, has_event;
};

static bool take_packet(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct packet *packet = arg;

    (void)reader, (void)err;
    if (field->number == cn_perfetto_packet_sequence_id)
        packet->sequence = field->value;
    packet->has_event |= field->number == cn_perfetto_packet_track_event;
    if (field->number == cn_perfetto_packet_interned_data && field->wire == CN_PB_BYTES) {
        packet->interned = *field;
        packet->has_interned = true;
    }
    if (field->number == cn_perfetto_packet_profile_packet &&
        field->wire == CN_PB_BYTES) {
        packet->profile = *field;
        packet->has_profile = true;
    }
    return true;
}

static bool read_packet(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct heapprofd *h = arg;
    struct packet packet = {0};
    bool ok = field->number != cn_perfetto_trace_packet ||
              cn_pb_read_message(reader, field, take_packet, &packet, err);

    h->sequence = packet.sequence;
    for (unsigned i = 0; ok && packet.has_interned && i < TABLES; i++) {
        h->strings_are = (enum interned)i;
        ok = cn_pb_read_message(reader, &packet.interned, take_interned, h, err);
    }
    for (unsigned i = 0; ok && packet.has_profile && i <= TABLES; i++) {
        h->strings_are = (enum interned)i;
        ok = cn_pb_read_message(reader, &packet.profile, take_profile, h, err);
    }
    return ok || cn_fail_in(err, "packet at %" PRIu64, field->off);
}

static bool add_samples(struct heapprofd *h, struct cn_error *err)
{
    uint32_t number;

    for (size_t k = 0; k < VALUE_COUNT; k++) {
        bool is_there = false;

        for (size_t i = 0; i < h->sample_count && !is_there; i++)
            is_there = h->samples[i].values[k] > 0;
        if (!is_there)
            continue;
        if (!cn_import_metric(h->import, cn_heap_metric_name(metrics[k]), &number, err))
            return false;
        for (size_t i = 0; i < h->sample_count; i++)
            if (h->samples[i].values[k] > 0 &&
                !cn_import_add(h->import, h->samples[i].thread, h->samples[i].context,
                               number, h->samples[i].values[k], err))
                return false;
    }
    return true;
}

static void done(struct heapprofd *h)
{
    for (size_t i = 0; i < TABLES; i++)
        cn_map_done(&h->tables[i]);
    cn_names_done(&h->heaps);
    cn_map_done(&h->thread_of);
    cn_map_done(&h->sample_of);
    cn_names_done(&h->strings);
    free(h->samples);
}

bool cn_heapprofd_read(struct cn_import *import, struct cn_bytes bytes,
                       struct cn_error *err)
{
    struct heapprofd h = {.import = import};
    struct cn_pb_reader reader = cn_pb_read(bytes);
    bool ok = cn_pb_read_fields(&reader, read_packet, &h, err);

    /* Damage does not hide what was read before it. */
    if (!ok && err->kind == CN_ERR_FORMAT && h.sample_count > 0) {
        cn_import_warn(import, true, "%s; read up to there", err->text);
        ok = true;
    }
    if (ok && h.sample_count == 0)
        ok = cn_fail(err, CN_ERR_FORMAT, "a Perfetto trace without heap profiles");
    ok = ok && add_samples(&h, err);
    if (ok) {
        cn_import_warn(import, false,
                       "values are estimated from allocations that heapprofd sampled");
        if (h.broken_count > 0)
            cn_import_warn(import, false,
                           "heapprofd lost processes, or was refused: what they "
                           "allocated afterwards is missing");
        if (h.bad_count > 0)
            cn_import_warn(import, true, "%" PRIu64 " samples without a call stack",
                           h.bad_count);
    }
    done(&h);
    return ok;
}

/* A trace with heap profiles before, or without, calls: those are the other reader's. */
static bool looks_right(struct cn_bytes bytes)
{
    struct cn_pb_reader reader = cn_pb_read(bytes);
    struct cn_error ignored;
    struct cn_pb_field field;

    while (cn_pb_next(&reader, &field, &ignored) == CN_PB_FIELD) {
        struct packet packet = {0};

        if (field.number != cn_perfetto_trace_packet || field.wire != CN_PB_BYTES ||
            !cn_pb_read_message(&reader, &field, take_packet, &packet, &ignored) ||
            packet.has_event)
            return false;
        if (packet.has_profile)
            return true;
    }
    return false;
}

static bool looks_right_at_first(struct cn_bytes beginning, bool is_whole)
{
    (void)is_whole;
    return beginning.len > 0 && beginning.ptr[0] == (1 << 3 | CN_PB_BYTES);
}

/* Profiles are at the end of a trace: all packets are looked at, up to the first of calls. */
static bool probe(const char *path)
{
    struct cn_file file = {0};
    struct cn_error ignored;

    if (!cn_import_probe(path, looks_right_at_first) ||
        !cn_file_open(&file, path, &ignored))
        return false;
    bool is = looks_right(file.bytes);
    cn_file_close(&file);
    return is;
}

static bool open_heapprofd(struct cn_database **out, const char *path,
                           struct cn_error *err)
{
    return cn_import_database(out, path, "heap profile of heapprofd", cn_heapprofd_read,
                              err);
}

const struct cn_format cn_format_heapprofd = {
    .name = "heapprofd",
    .summary = "heap profiles of heapprofd in a Perfetto trace: allocated and live bytes "
               "by stack",
    .holds = "stacks",
    .is_file = true,
    .probe = probe,
    .open_database = open_heapprofd,
};
