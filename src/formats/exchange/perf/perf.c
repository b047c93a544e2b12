/* perf.data as a format: one file, files of ranks in a folder, files of threads that recorded. */

#include "formats/exchange/perf/perf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/ranks.h"
#include "base/files/unpack.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/exchange/perf/reading.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/contexts/database.h"
#include "symbols/program/resolver.h"

static const char description[] = "samples of perf record";

/* The only file, also in parts. */
static bool read_whole(struct cn_import *import, struct cn_perf_symbols *symbols,
                       struct cn_bytes bytes, const struct cn_perf_part *parts,
                       size_t part_count, struct cn_error *err)
{
    struct cn_perf_latency latency = {0};
    bool ok = cn_perf_read_rank(import, symbols, &latency, bytes, parts, part_count,
                                CN_PERF_NO_RANK, err) &&
              cn_perf_latency_finish(&latency, import, err);

    cn_perf_latency_done(&latency);
    return ok;
}

bool cn_perf_read(struct cn_import *import, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_perf_symbols symbols;

    cn_perf_symbols_init(&symbols);
    bool ok = read_whole(import, &symbols, bytes, NULL, 0, err);
    cn_perf_symbols_done(&symbols);
    return ok;
}

bool cn_perf_symbols_find(struct cn_stored_symbols *out, struct cn_bytes bytes,
                          const char *const *folders, size_t folder_count,
                          bool is_offline, struct cn_text *hints, struct cn_error *err)
{
    struct cn_import *import = cn_import_new("", "");
    struct cn_perf_symbols symbols;

    cn_perf_symbols_init(&symbols);
    symbols.kept = out;
    symbols.hints = hints;
    cn_resolver_look_in(symbols.resolver, folders, folder_count, is_offline);
    bool ok = read_whole(import, &symbols, bytes, NULL, 0, err);
    cn_perf_symbols_done(&symbols);
    cn_import_free(import);
    return ok;
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    (void)is_whole;
    return beginning.len >= 8 && (memcmp(beginning.ptr, CN_PERF_MAGIC, 8) == 0 ||
                                  memcmp(beginning.ptr, CN_PERF_MAGIC_SWAPPED, 8) == 0);
}

static void set_rank_path(struct cn_text *path, const char *folder, uint64_t rank)
{
    cn_text_clear(path);
    cn_text_printf(path, "%s/" CN_RANK_PREFIX "%" PRIu64, folder, rank);
}

/* The path of `data` in a folder of `perf record --threads`. */
static void set_head_path(struct cn_text *path, const char *folder)
{
    cn_text_clear(path);
    cn_text_printf(path, "%s/data", folder);
}

static bool is_threads_folder(const char *path)
{
    struct cn_text head = {0};

    set_head_path(&head, path);
    bool is_it = cn_import_probe(head.chars, looks_right);
    cn_text_done(&head);
    return is_it;
}

/* A file, a folder with the files of ranks, or one of threads that recorded. */
static bool probe(const char *path)
{
    struct cn_text first = {0};
    size_t count;
    uint64_t *ranks = cn_rank_files_list(path, &count);

    if (count > 0)
        set_rank_path(&first, path, ranks[0]);
    bool ok = cn_import_probe(count > 0 ? first.chars : path, looks_right) ||
              (count == 0 && is_threads_folder(path));
    free(ranks);
    cn_text_done(&first);
    return ok;
}

/* The files of a folder of `perf record --threads`. */
struct threads_folder {
    struct cn_unpacked head;
    struct cn_file *files;
    struct cn_perf_part *parts;
    size_t count, capacity, part_capacity;
};

static void threads_folder_done(struct threads_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        cn_file_close(&folder->files[i]);
    free(folder->files);
    free(folder->parts);
    cn_unpacked_close(&folder->head);
}

/* Open `data`, then data.0, data.1 and so on until one is missing. */
static bool open_threads(struct threads_folder *folder, const char *path,
                         struct cn_arena *names, struct cn_error *err)
{
    struct cn_text head = {0};

    set_head_path(&head, path);
    bool ok = cn_unpacked_open(&folder->head, head.chars, err);
    cn_text_done(&head);
    while (ok) {
        const char *name = cn_arena_printf(names, "data.%zu", folder->count);
        struct cn_file file = {0};
        struct cn_error missing;

        if (!cn_file_open_at(&file, path, name, &missing))
            break;
        CN_GROW(folder->parts, folder->count, folder->part_capacity);
        folder->parts[folder->count] = (struct cn_perf_part){file.bytes, name};
        CN_PUSH(folder->files, folder->count, folder->capacity, file);
    }
    return ok;
}

static bool open_threads_database(struct cn_database **out, const char *path,
                                  const struct cn_progress *progress,
                                  struct cn_error *err)
{
    struct cn_import *import = cn_import_new(cn_path_name(path), description);
    struct threads_folder folder = {0};
    struct cn_perf_symbols symbols;
    struct cn_arena names = {0};
    bool ok;

    cn_import_set_progress(import, progress);
    cn_perf_symbols_init(&symbols);
    ok = open_threads(&folder, path, &names, err) &&
         (read_whole(import, &symbols, folder.head.bytes, folder.parts, folder.count,
                     err) ||
          cn_fail_in(err, "%s", path));
    if (ok)
        ok = cn_import_finish(import, out, err);
    else
        cn_import_free(import);
    cn_perf_symbols_done(&symbols);
    threads_folder_done(&folder);
    cn_arena_done(&names);
    if (ok)
        (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    return ok;
}

static bool read_rank_at(struct cn_import *import, struct cn_perf_symbols *symbols,
                         struct cn_perf_latency *latency, const char *path, uint64_t rank,
                         struct cn_error *err)
{
    struct cn_unpacked file = {0};
    bool ok =
        cn_unpacked_open(&file, path, err) &&
        (cn_perf_read_rank(import, symbols, latency, file.bytes, NULL, 0, rank, err) ||
         cn_fail_in(err, "%s", path));

    cn_unpacked_close(&file);
    return ok;
}

static bool open_samples(struct cn_database **out, const char *path,
                         const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_perf_latency latency = {0};
    struct cn_perf_symbols symbols;
    struct cn_text file = {0};
    size_t count;
    uint64_t *ranks = cn_rank_files_list(path, &count);
    bool ok = true;

    if (count == 0) {
        free(ranks);
        return is_threads_folder(path) ? open_threads_database(out, path, progress, err)
                                       : cn_import_samples(out, path, description,
                                                           cn_perf_read, progress, err);
    }
    struct cn_import *import = cn_import_new(path, description);
    cn_import_set_progress(import, progress);
    cn_perf_symbols_init(&symbols);
    for (size_t i = 0; i < count && ok; i++) {
        set_rank_path(&file, path, ranks[i]);
        ok = read_rank_at(import, &symbols, &latency, file.chars, ranks[i], err);
    }
    ok = ok && cn_perf_latency_finish(&latency, import, err);
    cn_perf_latency_done(&latency);
    if (ok)
        ok = cn_import_finish(import, out, err);
    else
        cn_import_free(import);
    free(ranks);
    cn_text_done(&file);
    cn_perf_symbols_done(&symbols);
    if (ok)
        (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    return ok;
}

static bool open_database(struct cn_database **out, const char *path,
                          struct cn_error *err)
{
    return open_samples(out, path, NULL, err);
}

const struct cn_format cn_format_perf = {
    .name = "perf",
    .summary = "perf.data of cairn sample or Linux perf: samples with call chains of "
               "each thread",
    .holds = "stacks",
    .is_file = true,
    .probe = probe,
    .open_database = open_database,
    .open_samples = open_samples,
};
