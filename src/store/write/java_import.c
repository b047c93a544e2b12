#include "store/write/java_import.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/chunks.h"
#include "base/files/file.h"
#include "base/path.h"
#include "base/search.h"
#include "base/text.h"
#include "formats/zorka/java_format.h"
#include "formats/zorka/java_store.h"
#include "formats/zorka/record.h"
#include "model/traces/trace.h"
#include "store/segment/log_format.h"
#include "store/segment/scan.h"
#include "store/segment/segments.h"

struct import_walk {
    cn_java_visit visit;
    void *arg;
    const char *dir; /* of the segment */
    struct cn_java_import_counts *counts;
    struct cn_words words;
    struct cn_file meta;
    struct cn_bytes slots; /* of qmeta.idx, in the order of the chunks */
    struct cn_trace trace;
};

static void note_chunk(struct import_walk *walk, struct cn_error *why)
{
    if (walk->counts->bad_chunks++ > 0)
        return;
    (void)cn_fail_in(why, "%s/%s", cn_path_name(walk->dir), CN_TRACES_NAME);
    walk->counts->first_chunk = *why;
}

static void note_file(struct import_walk *walk, const char *name, struct cn_error *why)
{
    if (walk->counts->bad_files++ > 0)
        return;
    (void)cn_fail_in(why, "%s/%s", cn_path_name(walk->dir), name);
    walk->counts->first_file = *why;
}

static void read_text_file(struct import_walk *walk, const char *name,
                           struct cn_java_words *words)
{
    struct cn_file file = {0};
    struct cn_error why;

    if (!cn_file_open_at(&file, walk->dir, name, &why) ||
        !(cn_java_is_wal(name) ? cn_java_wal_read(file.bytes, words, &why)
                               : cn_java_fmi_read(file.bytes, words, &why)))
        note_file(walk, name, &why);
    cn_file_close(&file);
}

static bool read_words(struct import_walk *walk, struct cn_error *err)
{
    struct cn_java_words words = {0};
    DIR *list = opendir(walk->dir);
    const struct dirent *entry;

    if (!list)
        return cn_fail_errno(err, "%s", walk->dir);
    while ((entry = readdir(list)))
        if (cn_java_is_text(entry->d_name))
            read_text_file(walk, entry->d_name, &words);
    (void)closedir(list);
    cn_java_words_finish(&words, &walk->words);
    cn_java_words_done(&words);
    return true;
}

static void read_slots(struct import_walk *walk)
{
    struct cn_error why;

    walk->slots = (struct cn_bytes){0};
    if (cn_file_open_at(&walk->meta, walk->dir, "qmeta.idx", &why) &&
        !cn_java_meta_slots(walk->meta.bytes, &walk->slots, &why))
        note_file(walk, "qmeta.idx", &why);
}

static bool slot_at(const struct import_walk *walk, uint64_t i,
                    struct cn_java_meta_slot *out, uint64_t *data_off)
{
    struct cn_bytes slot = cn_bytes_element(walk->slots, i, cn_java_meta_slot_size);

    if (!cn_java_meta_slot_decode(slot, out))
        return false;
    *data_off = (uint64_t)out->data_off_high << 32 | out->data_off_low;
    return true;
}

static bool is_before(const void *walk, uint64_t i, uint64_t data_off)
{
    struct cn_java_meta_slot slot;
    uint64_t off;

    return slot_at(walk, i, &slot, &off) && off < data_off;
}

static bool find_slot(const struct import_walk *walk, uint64_t data_off,
                      struct cn_java_meta_slot *out)
{
    uint64_t count = walk->slots.len / cn_java_meta_slot_size, off;
    uint64_t i = cn_search(0, count, is_before, walk, data_off);

    return i < count && slot_at(walk, i, out, &off) && off == data_off;
}

static void identify(struct import_walk *walk, uint64_t data_off, struct cn_bytes plain)
{
    struct cn_trace *trace = &walk->trace;
    struct cn_java_meta_slot slot;
    XXH128_hash_t hash;

    if (find_slot(walk, data_off, &slot)) {
        trace->id_high = slot.id_high;
        trace->id_low = slot.id_low;
        if (trace->span_count == 0 || trace->spans[0].node != 0) {
            uint32_t current = trace->current;

            trace->current = 0;
            cn_trace_add_span(trace, (uint64_t)slot.time_s * 1000000000)->type =
                slot.type;
            trace->current = current;
        }
        return;
    }
    hash = XXH3_128bits(plain.ptr, plain.len);
    trace->id_high = hash.high64;
    trace->id_low = hash.low64;
}

static bool visit_chunk(struct import_walk *walk, const struct cn_chunk *chunk,
                        const uint8_t *bytes, struct cn_error *err)
{
    struct cn_bytes plain = {bytes, chunk->plain_len};
    struct cn_error why;

    if (!cn_zorka_record_decode(plain, &walk->trace, NULL, &why)) {
        (void)cn_fail_in(&why, "chunk at 0x%" PRIx64, chunk->off);
        note_chunk(walk, &why);
        return true;
    }
    walk->trace.words = &walk->words;
    identify(walk, chunk->off, plain);
    return walk->visit(walk->arg, &walk->trace, chunk->off, err);
}

static bool walk_chunks(struct import_walk *walk, struct cn_bytes data,
                        struct cn_error *err)
{
    struct cn_decompressor *decompressor = cn_decompressor_new();
    struct cn_chunk_file file;
    struct cn_chunk_walk chunks;
    struct cn_chunk chunk;
    bool ok = true;

    cn_segment_open_chunks(&file, &(struct cn_file){.bytes = data});
    cn_chunk_walk_begin(&chunks, &file);
    while (ok && !cn_chunk_walk_is_at_end(&chunks)) {
        struct cn_error why;

        if (!cn_chunk_walk_next(&chunks, true, &chunk, &why)) {
            note_chunk(walk, &why);
            continue;
        }
        uint8_t *plain = cn_alloc((size_t)chunk.plain_len + 1, 1);
        if (cn_chunk_read(&file, &chunk, decompressor, plain, &why))
            ok = visit_chunk(walk, &chunk, plain, err);
        else
            note_chunk(walk, &why);
        free(plain);
    }
    cn_decompressor_free(decompressor);
    return ok;
}

static bool walk_segment(struct import_walk *walk, const char *dir, struct cn_error *err)
{
    struct cn_file data = {0};
    bool ok;

    if (!cn_file_open_at(&data, dir, CN_TRACES_NAME, err))
        return false;
    walk->dir = dir;
    ok = read_words(walk, err);
    if (ok) {
        read_slots(walk);
        ok = walk_chunks(walk, data.bytes, err);
        walk->counts->segments++;
        walk->counts->disk_len += cn_segment_disk_len(dir);
    }
    cn_file_close(&data);
    cn_file_close(&walk->meta);
    cn_words_done(&walk->words);
    return ok;
}

bool cn_java_store_walk(const char *path, cn_java_visit visit, void *arg,
                        struct cn_java_import_counts *out, struct cn_error *err)
{
    struct cn_java_import_counts counts = {0};
    struct import_walk walk = {.visit = visit, .arg = arg, .counts = &counts};
    uint32_t *numbers = NULL;
    size_t count = 0;
    bool ok = true;

    if (cn_java_is_segment(path))
        ok = walk_segment(&walk, path, err);
    else
        ok = cn_segments_list(path, &numbers, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        char *dir = cn_segment_dir(path, numbers[i]);

        ok = walk_segment(&walk, dir, err);
        free(dir);
    }
    free(numbers);
    cn_trace_done(&walk.trace);
    if (ok)
        *out = counts;
    return ok;
}

bool cn_java_import_damage(const struct cn_java_import_counts *counts,
                           struct cn_error *err)
{
    const struct cn_error *first =
        counts->bad_chunks > 0 ? &counts->first_chunk : &counts->first_file;

    return counts->bad_chunks + counts->bad_files == 0 ||
           cn_fail(err, CN_ERR_FORMAT,
                   "%" PRIu64 " chunk%s and %" PRIu64
                   " file%s cannot be read; the first is %s",
                   counts->bad_chunks, cn_plural(counts->bad_chunks, "", "s"),
                   counts->bad_files, cn_plural(counts->bad_files, "", "s"), first->text);
}

struct import {
    struct cn_store_writer *writer;
    struct cn_store_added added;
};

static bool import_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                         struct cn_error *err)
{
    struct import *import = arg;

    return cn_store_writer_add(import->writer, trace, &import->added, err) ||
           cn_fail_in(err, "chunk at 0x%llx", (unsigned long long)data_off);
}

bool cn_java_store_import(struct cn_store_writer *writer, const char *path,
                          struct cn_java_import_counts *out, struct cn_error *err)
{
    struct import import = {.writer = writer};
    struct cn_java_import_counts counts;

    if (!cn_java_store_walk(path, import_trace, &import, &counts, err))
        return false;
    counts.added = import.added;
    *out = counts;
    return true;
}
