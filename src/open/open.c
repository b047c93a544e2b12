#include "open/open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/lens/code.h"
#include "analyze/lens/database.h"
#include "analyze/lens/lens.h"
#include "base/alloc.h"
#include "base/files/file.h"
#include "base/files/ranks.h"
#include "base/files/unpack.h"
#include "base/host/input.h"
#include "base/list.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/about.h"
#include "open/folder.h"
#include "store/segment/reader.h"

/* True for an executable file: ELF, or a script. */
static bool is_program(const char *path)
{
    struct cn_error ignored;
    struct cn_file file = {0};
    bool is_it = access(path, X_OK) == 0 && cn_file_open(&file, path, &ignored) &&
                 file.bytes.len >= 4 &&
                 (memcmp(file.bytes.ptr, "\177ELF", 4) == 0 ||
                  memcmp(file.bytes.ptr, "#!", 2) == 0);

    cn_file_close(&file);
    return is_it;
}

/* True for a profile of TAU, profile.NODE.CONTEXT.THREAD, or a folder with one. */
static bool is_tau(const char *path)
{
    static const char mark[] = " templated_functions";
    struct cn_error ignored;
    struct cn_file file = {0};
    bool is_it = (cn_file_open(&file, path, &ignored) ||
                  cn_file_open_at(&file, path, "profile.0.0.0", &ignored)) &&
                 memmem(file.bytes.ptr, file.bytes.len < 64 ? file.bytes.len : 64, mark,
                        sizeof(mark) - 1) != NULL;

    cn_file_close(&file);
    return is_it;
}

/* True for what gperftools, Java agents and older Go programs write. */
static bool is_legacy_pprof(const char *path)
{
    static const char *const begins[] = {"heap profile: ",
                                         "--- heap",
                                         "--- growth",
                                         "--- contention",
                                         "--- mutex:",
                                         "--- thread",
                                         "--- Thread",
                                         "goroutine profile: total ",
                                         "threadcreate profile: total "};
    /* The head of a CPU profile, in words of 8 or 4 bytes. */
    static const uint64_t cpu[] = {0, 3}, java[] = {UINT64_C(3) << 32};
    struct cn_error ignored;
    struct cn_file file = {0};
    bool is_it = false;

    if (!cn_file_open(&file, path, &ignored))
        return false;
    for (size_t i = 0; !is_it && i < CN_COUNT_OF(begins); i++)
        is_it = file.bytes.len >= strlen(begins[i]) &&
                memcmp(file.bytes.ptr, begins[i], strlen(begins[i])) == 0;
    is_it = is_it || (file.bytes.len >= sizeof(cpu) &&
                      (memcmp(file.bytes.ptr, cpu, sizeof(cpu)) == 0 ||
                       memcmp(file.bytes.ptr, java, sizeof(java)) == 0));
    cn_file_close(&file);
    return is_it;
}

/* True if the file is compressed and damaged; what it contains need not look like it then. */
static bool is_damaged_inside(const char *path, struct cn_error *damage)
{
    enum { READ_MAX = 64 << 20 };
    struct cn_file file = {0};
    struct cn_text text = {0};

    if (!cn_file_open(&file, path, damage))
        return false;
    bool is_damaged = cn_is_packed(file.bytes) &&
                      !cn_unpack(file.bytes, READ_MAX, &text, damage) &&
                      damage->kind == CN_ERR_FORMAT;
    cn_text_done(&text);
    cn_file_close(&file);
    return is_damaged;
}

static bool fail_unknown(const char *path, struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_text names = {0};

    for (size_t i = 0; cn_formats[i]; i++)
        if (cn_formats[i]->probe)
            cn_text_printf(&names, "%s%s", i == 0 ? "" : ", ", cn_formats[i]->name);
    if (is_program(path))
        (void)cn_fail(err, CN_ERR_FORMAT,
                      "%s is a program; run 'cairn sample -- %s%s' first", path,
                      strchr(path, '/') ? "" : "./", path);
    else if (!cn_path_is_address(path) && is_tau(path))
        (void)cn_fail(
            err, CN_ERR_FORMAT,
            "%s is a profile of TAU, which cairn does not read; run the program "
            "with TAU_TRACE=1, convert its trace with tau_trace2json, and open "
            "that",
            path);
    else if (!cn_path_is_address(path) && is_legacy_pprof(path))
        (void)cn_fail(err, CN_ERR_FORMAT,
                      "%s is a legacy profile of pprof, which cairn does not read; "
                      "'go tool pprof -proto %s >%s.pb.gz' converts it",
                      path, path, path);
    else if (!cn_path_is_address(path) && is_damaged_inside(path, &damage))
        (void)cn_fail(err, CN_ERR_FORMAT,
                      "%s: %s; what is before that is not a format cairn can read", path,
                      damage.text);
    else
        (void)cn_fail(err, CN_ERR_FORMAT, "%s: not a format cairn can read; it reads: %s",
                      path, cn_text_str(&names));
    cn_text_done(&names);
    return false;
}

static bool probe(const char *path, const struct cn_format **out, struct cn_error *err)
{
    if (!cn_path_is_address(path) && access(path, F_OK) < 0)
        return errno == ENOENT
                   ? cn_fail(err, CN_ERR_NOT_FOUND, "%s: no such file or directory", path)
                   : cn_fail_errno(err, "%s", path);
    for (size_t i = 0; cn_formats[i]; i++)
        if (cn_formats[i]->probe && cn_formats[i]->probe(path)) {
            *out = cn_formats[i];
            return true;
        }
    return fail_unknown(path, err);
}

static unsigned contents(const struct cn_format *format)
{
    if (format->is_store)
        return CN_TRACES | CN_CALLS;
    if (format->open_database || format->is_measured)
        return CN_CONTEXTS;
    return format->open_recording || format->open_traces ? CN_CALLS : 0;
}

/* A folder of recordings, one for each rank: note their paths. */
static bool find_ranks(struct cn_opened *opened)
{
    struct cn_error ignored;
    struct cn_text path = {0};
    uint64_t *numbers = cn_rank_files_list(opened->source, &opened->rank_count);

    opened->ranks = cn_alloc(opened->rank_count, sizeof(*opened->ranks));
    for (size_t i = 0; i < opened->rank_count; i++) {
        cn_text_clear(&path);
        cn_text_printf(&path, "%s/" CN_RANK_PREFIX "%" PRIu64, opened->source,
                       numbers[i]);
        opened->ranks[i] = cn_strdup(cn_text_str(&path));
    }
    free(numbers);
    cn_text_done(&path);
    bool ok = opened->rank_count > 0 &&
              probe(opened->ranks[0], &opened->format, &ignored) &&
              opened->format->open_recording;
    if (ok)
        opened->contains = CN_CONTEXTS;
    return ok;
}

static bool find_format(struct cn_opened *opened, struct cn_error *err)
{
    const char *name = opened->options.format;

    if (name && !(opened->format = cn_format_find(name)))
        return cn_fail(err, CN_ERR_FORMAT, "%s: no format '%s'", opened->path, name);
    if (!name && !probe(opened->source, &opened->format, err))
        return find_ranks(opened);
    opened->contains = contents(opened->format);
    if (opened->contains == 0)
        return cn_fail(err, CN_ERR_USAGE, "%s: format %s cannot be read", opened->path,
                       opened->format->name);
    opened->is_of_traces = opened->format->open_traces != NULL;
    return true;
}

/* A failure names standard input, not its copy. Returns false. */
static bool name_input(const struct cn_opened *opened, struct cn_error *err)
{
    struct cn_error failure = *err;
    size_t len = opened->spool ? strlen(opened->source) : 0;

    return len > 0 && strncmp(failure.text, opened->source, len) == 0 &&
           cn_fail(err, failure.kind, "standard input%s", failure.text + len);
}

bool cn_open(struct cn_opened *out, const char *path, unsigned wants,
             const struct cn_open_options *options, struct cn_error *err)
{
    struct cn_opened opened = {
        .path = cn_strdup(path),
        .source = cn_strdup(path),
        .options = options ? *options : (struct cn_open_options){0},
    };

    if ((strcmp(path, "-") != 0 || cn_input_spool(&opened.spool, &opened.source, err)) &&
        (find_format(&opened, err) || name_input(&opened, err)) &&
        cn_opened_load(&opened, wants, NULL, err)) {
        *out = opened;
        return true;
    }
    cn_opened_close(&opened);
    return false;
}

bool cn_opened_is_analysed(const struct cn_opened *opened)
{
    return !(opened->contains & CN_CONTEXTS) || opened->rank_count > 0 ||
           opened->format->is_measured || opened->format->open_samples;
}

const struct cn_warning *cn_opened_warnings(const struct cn_opened *opened)
{
    return opened->db ? opened->db->warnings : opened->rec ? opened->rec->warnings : NULL;
}

bool cn_opened_is_damaged(const struct cn_opened *opened)
{
    return cn_warning_damage(cn_opened_warnings(opened)) != NULL;
}

static bool open_calls(const struct cn_opened *opened, const char *path,
                       struct cn_recording **out, struct cn_error *err)
{
    const struct cn_open_options *options = &opened->options;

    return opened->format->open_traces
               ? opened->format->open_traces(out, path,
                                             options->query ? options->query : "", err)
               : opened->format->open_recording(out, path, &options->recording, err);
}

/* What an analysis reads: samples, recordings of ranks, or one; measurements open themselves. */
struct open_source {
    struct cn_database *samples;
    struct cn_recording **recs;
    size_t count;
};

static bool open_source(struct open_source *source, const struct cn_opened *opened,
                        const struct cn_progress *progress, struct cn_error *err)
{
    size_t count = opened->rank_count > 0 ? opened->rank_count : 1;

    if (opened->format && opened->format->is_measured)
        return true;
    if (opened->format && opened->format->open_samples)
        return opened->format->open_samples(&source->samples, opened->source, progress,
                                            err);
    if (opened->format && opened->format->open_database)
        return opened->format->open_database(&source->samples, opened->source, err);
    source->recs = cn_alloc(count, sizeof(*source->recs));
    if (opened->rec)
        source->recs[source->count++] = opened->rec;
    for (; source->count < count; source->count++)
        if (!open_calls(opened,
                        opened->ranks ? opened->ranks[source->count] : opened->source,
                        &source->recs[source->count], err))
            return false;
    return true;
}

static void close_source(struct open_source *source, const struct cn_opened *opened)
{
    cn_database_close(source->samples);
    for (size_t i = 0; i < source->count; i++)
        if (source->recs[i] != opened->rec)
            cn_recording_close(source->recs[i]);
    free(source->recs);
}

/* Write the folder of the analysis. */
static bool make_folder(struct cn_opened *opened, const struct open_source *source,
                        bool is_temporary, const struct cn_progress *progress,
                        struct cn_error *err)
{
    struct cn_cached_folder *folder = &opened->folder;

    return cn_cached_folder_begin(folder, is_temporary, err) &&
           (source->samples
                ? cn_folder_of_samples(folder->path, source->samples, progress, err)
            : source->recs ? cn_folder_of_calls(folder->path, source->recs, source->count,
                                                opened->options.is_raw, cn_time_always,
                                                progress, err)
                           : cn_folder_of_measurements(folder->path, opened->source,
                                                       progress, err)) &&
           cn_cached_folder_commit(folder, err);
}

static bool analyse(struct cn_opened *opened, const struct cn_progress *progress,
                    struct cn_error *err)
{
    struct open_source source = {0};
    bool ok = open_source(&source, opened, progress, err) &&
              make_folder(opened, &source, false, progress, err);

    /* The cache may be on a disk that is full, or have been removed. */
    if (!ok && (err->kind == CN_ERR_IO || err->kind == CN_ERR_NOT_FOUND) &&
        opened->folder.target && opened->folder.path) {
        cn_cached_folder_close(&opened->folder);
        ok = make_folder(opened, &source, true, progress, err);
    }
    close_source(&source, opened);
    return ok;
}

/* What a query selects depends on the time, and options change names. */
static const char *cached_source(const struct cn_opened *opened)
{
    const struct cn_open_options *options = &opened->options;

    return options->query || opened->spool || options->recording.symbols ||
                   options->recording.demangle != CN_DEMANGLE_SIMPLE
               ? NULL
               : opened->source;
}

static void close_contexts(struct cn_opened *opened)
{
    cn_database_close(opened->db);
    cn_database_close(opened->whole);
    opened->db = opened->whole = NULL;
    cn_about_close(&opened->about);
}

static bool open_analysis(struct cn_opened *opened, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct cn_cached_folder *folder = &opened->folder;

    if (cn_cached_folder_find(folder, cached_source(opened), opened->options.is_raw)) {
        if (cn_about_open(&opened->db, &opened->about, folder->path, err) &&
            !opened->about.is_outdated)
            return true;
        close_contexts(opened);
        cn_cached_folder_drop(folder);
    }
    return analyse(opened, progress, err) &&
           cn_about_open(&opened->db, &opened->about, folder->path, err);
}

static bool open_whole(struct cn_opened *opened, const struct cn_progress *progress,
                       struct cn_error *err)
{
    if (opened->options.folder)
        return cn_about_open(&opened->db, &opened->about, opened->options.folder, err);
    if (!cn_opened_is_analysed(opened))
        return opened->format->open_database(&opened->db, opened->source, err);
    bool ok = open_analysis(opened, progress, err);
    if (!ok)
        cn_cached_folder_close(&opened->folder);
    return ok;
}

/* The contexts, through the lens of the options. */
static bool open_contexts(struct cn_opened *opened, const struct cn_progress *progress,
                          struct cn_error *err)
{
    const struct cn_lens *lens = opened->options.lens;
    struct cn_database *shown;
    struct cn_codes codes;

    if (!open_whole(opened, progress, err))
        return false;
    if (!lens || lens->count == 0)
        return true;
    if (!cn_codes_build(&codes, opened->db, &lens->mine, err) ||
        !cn_lens_database_open(&shown, opened->db, &codes, lens, progress, err)) {
        close_contexts(opened);
        cn_cached_folder_close(&opened->folder);
        return false;
    }
    opened->whole = opened->db;
    opened->db = shown;
    return true;
}

static bool check(const struct cn_opened *opened, unsigned wants, struct cn_error *err)
{
    const char *path = opened->path;

    if (wants && opened->options.query && !opened->is_of_traces)
        return cn_fail(err, CN_ERR_USAGE, "%s is not a store; a query is for stores",
                       path);
    if ((wants & CN_CALLS) && opened->rank_count > 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s has a recording of each rank; open %s, or use cairn tree, top "
                       "or view for all of them",
                       path, opened->ranks[0]);
    if ((wants & CN_CALLS) && !(opened->contains & CN_CALLS))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s is in format %s (%s), not a recording; use cairn tree, top or "
                       "view",
                       path, opened->format->name, opened->format->holds);
    if ((wants & CN_TRACES) && !(opened->contains & CN_TRACES))
        return cn_fail(err, CN_ERR_USAGE, "%s is in format %s (%s), not a store", path,
                       opened->format->name, opened->format->holds);
    return true;
}

bool cn_opened_load(struct cn_opened *opened, unsigned wants,
                    const struct cn_progress *progress, struct cn_error *err)
{
    unsigned own = opened->contains & CN_TRACES  ? CN_TRACES
                   : opened->contains & CN_CALLS ? CN_CALLS
                                                 : CN_CONTEXTS;
    bool had_calls = opened->rec != NULL, ok;

    if (wants & CN_OWN)
        wants |= own;
    ok = check(opened, wants, err) &&
         (!(wants & CN_CALLS) || opened->rec ||
          open_calls(opened, opened->source, &opened->rec, err)) &&
         (!(wants & CN_CONTEXTS) || opened->db || open_contexts(opened, progress, err)) &&
         (!(wants & CN_TRACES) || opened->store ||
          cn_store_open(&opened->store, opened->source, err));
    ok = ok || name_input(opened, err);
    if (!ok && !had_calls) {
        cn_recording_close(opened->rec);
        opened->rec = NULL;
    }
    return ok;
}

void cn_opened_close(struct cn_opened *opened)
{
    close_contexts(opened);
    cn_recording_close(opened->rec);
    cn_store_close(opened->store);
    cn_cached_folder_close(&opened->folder);
    if (opened->spool)
        cn_outdir_remove(opened->spool);
    for (size_t i = 0; i < opened->rank_count; i++)
        free(opened->ranks[i]);
    free(opened->ranks);
    free(opened->spool);
    free(opened->source);
    free(opened->path);
    *opened = (struct cn_opened){0};
}

struct cn_recording *cn_opened_take_recording(struct cn_opened *opened)
{
    struct cn_recording *rec = opened->rec;

    opened->rec = NULL;
    cn_opened_close(opened);
    return rec;
}

bool cn_open_recording(const char *path, const struct cn_recording_options *options,
                       struct cn_recording **out, struct cn_error *err)
{
    struct cn_open_options all = {
        .recording = options ? *options : (struct cn_recording_options){0}};
    struct cn_opened opened;

    if (!cn_open(&opened, path, CN_CALLS, &all, err))
        return false;
    *out = cn_opened_take_recording(&opened);
    return true;
}
