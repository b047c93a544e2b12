#include "store/bucket/unsealed.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cache/directory.h"
#include "s3/http_get.h"
#include "store/bucket/collector_url.h"

#define CONFIG_NAME "config.props"
enum { LIST_MAX = 64 << 20, ATTEMPTS = 3 };

/* A collector that is asked. */
struct asked {
    const struct cn_manifest_collector *collector;
    char *url;
    char label[CN_MANIFEST_ID_LEN + 1];
    struct cn_manifest_entry **entries;
    size_t count;
    size_t first; /* of its segments in the result */
    bool is_done,
        is_moved; /* a file is no longer there: the segment was sealed or uploaded */
    struct cn_error err;
};

struct asking {
    struct cn_bucket *bucket;
    struct asked *list;
    size_t count;
    char *token;
    uint64_t deadline_ns;
    struct cn_fresh *fresh;
};

void cn_fresh_drop(struct cn_fresh *fresh, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cn_manifest_entry_free(fresh->segments[i].entry);
        free(fresh->segments[i].base);
    }
    fresh->count -= count;
    if (count > 0)
        memmove(fresh->segments, fresh->segments + count,
                fresh->count * sizeof(*fresh->segments));
}

void cn_fresh_free(struct cn_fresh *fresh)
{
    if (!fresh)
        return;
    cn_fresh_drop(fresh, fresh->count);
    for (size_t i = 0; i < fresh->missing_count; i++)
        free(fresh->missing[i]);
    free(fresh->segments);
    free(fresh->missing);
    free(fresh);
}

uint64_t cn_fresh_state(const struct cn_fresh *fresh)
{
    uint64_t state = fresh->missing_count;

    for (size_t i = 0; i < fresh->count; i++) {
        const struct cn_manifest_entry *entry = fresh->segments[i].entry;

        state = (state ^ fresh->segments[i].number) * UINT64_C(0x100000001b3);
        for (size_t k = 0; k < entry->file_count; k++)
            state = (state ^ entry->files[k].len) * UINT64_C(0x100000001b3);
    }
    return state;
}

void cn_fresh_note_missing(struct cn_fresh *fresh, const char *who,
                           const struct cn_error *err)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%s: %s", who, err->text);
    CN_PUSH(fresh->missing, fresh->missing_count, fresh->missing_capacity, text.chars);
}

/* The first line of the file with the token. */
static bool read_token(struct asking *asking, struct cn_error *err)
{
    const char *path = cn_s3_settings(asking->bucket->s3)->collector_token_file;
    struct cn_file file = {0};
    size_t len = 0;

    if (!path)
        return true;
    if (!cn_file_open(&file, path, err))
        return false;
    while (len < file.bytes.len && file.bytes.ptr[len] > ' ')
        len++;
    asking->token = cn_alloc(len + 1, 1);
    if (len > 0)
        memcpy(asking->token, file.bytes.ptr, len);
    cn_file_close(&file);
    return true;
}

static bool is_url(const char *url)
{
    return (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0) &&
           strspn(url, CN_COLLECTOR_URL_CHARACTERS) == strlen(url);
}

/* A collector at an address. One that is gone is not asked. */
static void add_asked(struct asking *asking,
                      const struct cn_manifest_collector *collector, const char *url)
{
    uint64_t gone_ns = CN_COLLECTOR_GONE_S * UINT64_C(1000000000);
    uint64_t now_ns = cn_clock_date_ns();
    uint64_t age_ns = now_ns > collector->seen_ns ? now_ns - collector->seen_ns : 0;
    struct asked *asked = &asking->list[asking->count++];

    *asked = (struct asked){.collector = collector, .url = cn_strdup(url)};
    asked->is_done = age_ns > gone_ns;
    if (asked->is_done)
        (void)cn_fail(&asked->err, CN_ERR_IO, "not seen for %" PRIu64 " s",
                      age_ns / 1000000000);
}

/* Fetch the addresses of the collectors. */
static bool read_urls(struct asking *asking,
                      const struct cn_manifest_collector *collectors, size_t count,
                      struct cn_error *err)
{
    struct cn_text *urls = cn_alloc(count, sizeof(*urls));
    bool ok = cn_bucket_collector_urls(asking->bucket, collectors, count, urls, err);

    asking->list = cn_alloc(count, sizeof(*asking->list));
    for (size_t i = 0; i < count; i++) {
        if (ok && urls[i].len > 0 && is_url(cn_text_str(&urls[i])))
            add_asked(asking, &collectors[i], cn_text_str(&urls[i]));
        cn_text_done(&urls[i]);
    }
    free(urls);
    return ok;
}

/* Ask all that are not done for their segments. */
static void ask_lists(struct asking *asking)
{
    struct cn_http_get *gets = cn_alloc(asking->count, sizeof(*gets));
    struct cn_text *urls = cn_alloc(asking->count, sizeof(*urls));
    struct asked **of = cn_alloc(asking->count, sizeof(*of));
    size_t n = 0;

    for (size_t i = 0; i < asking->count; i++) {
        if (asking->list[i].is_done)
            continue;
        of[n] = &asking->list[i];
        cn_text_printf(&urls[n], "%s" CN_FRESH_PATH, of[n]->url);
        gets[n] = (struct cn_http_get){.url = cn_text_str(&urls[n]),
                                       .token = asking->token,
                                       .fd = -1,
                                       .len_max = LIST_MAX};
        n++;
    }
    cn_http_get_run(gets, n, asking->deadline_ns);
    for (size_t i = 0; i < n; i++) {
        struct cn_bytes bytes = {(const uint8_t *)cn_text_str(&gets[i].answer),
                                 gets[i].answer.len};

        of[i]->err = gets[i].err;
        of[i]->is_done = !gets[i].is_ok ||
                         !cn_manifest_list_decode(bytes, of[i]->label, &of[i]->entries,
                                                  &of[i]->count, &of[i]->err);
        if (!of[i]->is_done)
            of[i]->err = (struct cn_error){0};
        cn_text_done(&gets[i].answer);
        cn_text_done(&urls[i]);
    }
    free(gets);
    free(urls);
    free(of);
}

#define COPY_NAME "fresh-%s-"

/* Make the directory of a segment's copy. */
static bool add_segment(struct asking *asking, struct asked *asked,
                        struct cn_manifest_entry *entry)
{
    struct cn_fresh *fresh = asking->fresh;
    struct cn_fresh_segment segment = {.entry = entry,
                                       .number = cn_manifest_fresh_number(entry->id)};
    struct cn_text base = {0};

    cn_text_printf(&base, "%s/" COPY_NAME "%s-%s", asking->bucket->cache_dir,
                   asked->collector->id, asked->label, entry->id);
    char *dir = cn_strprintf("%s/%06x", cn_text_str(&base), segment.number);
    (void)mkdir(cn_text_str(&base), 0700);
    (void)mkdir(dir, 0700);
    bool ok = access(dir, W_OK) == 0 || cn_fail_errno(&asked->err, "%s", dir);
    (void)utimensat(AT_FDCWD, cn_text_str(&base), NULL, 0); /* it is used */
    segment.base = base.chars;
    free(dir);
    CN_PUSH(fresh->segments, fresh->count, fresh->capacity, segment);
    return ok;
}

/* A file that grows. */
struct unsealed_copy {
    struct asked *asked;
    struct cn_fresh_segment *segment;
    struct cn_text url;
    uint64_t len; /* that it has afterwards */
};

static bool open_copy(struct unsealed_copy *copy, size_t index, struct cn_http_get *get)
{
    const struct cn_manifest_file *file = &copy->segment->entry->files[index];
    struct stat st;
    char *path = cn_strprintf("%s/%06x/%s", copy->segment->base, copy->segment->number,
                              file->name);

    get->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (get->fd < 0 || fstat(get->fd, &st) < 0) {
        (void)cn_fail_errno(&copy->asked->err, "%s", path);
        st.st_size = 0;
    }
    free(path);
    get->off = (uint64_t)st.st_size;
    copy->len = file->len;
    if (get->fd < 0 || get->off >= file->len) {
        if (get->fd >= 0)
            (void)close(get->fd);
        return false;
    }
    get->len_max = file->len - get->off;
    cn_text_printf(&copy->url,
                   "%s" CN_FRESH_PATH "/%06x/%s?from=%" PRIu64 "&len=%" PRIu64,
                   copy->asked->url, copy->segment->entry->number, file->name, get->off,
                   get->len_max);
    return true;
}

static void end_copy(const struct unsealed_copy *copy, const struct cn_http_get *get)
{
    struct stat st;

    copy->asked->is_moved |= get->status == 404;
    if (!get->is_ok)
        copy->asked->err = get->err;
    else if (fstat(get->fd, &st) < 0 || (uint64_t)st.st_size < copy->len)
        (void)cn_fail(&copy->asked->err, CN_ERR_IO, "it sent less than it has");
    (void)close(get->fd);
}

/* Copy what is missing of the file `index` of all segments. Processes that share the cache write
 * the same bytes, each from the end that it finds: a file never has a gap. */
static void copy_files(struct asking *asking, size_t index)
{
    struct cn_fresh *fresh = asking->fresh;
    struct cn_http_get *gets = cn_alloc(fresh->count, sizeof(*gets));
    struct unsealed_copy *copies = cn_alloc(fresh->count, sizeof(*copies));
    size_t n = 0;

    for (size_t i = 0; i < asking->count; i++) {
        struct asked *asked = &asking->list[i];

        for (size_t k = 0; !asked->is_done && k < asked->count; k++) {
            struct cn_fresh_segment *segment = &fresh->segments[asked->first + k];

            copies[n] = (struct unsealed_copy){.asked = asked, .segment = segment};
            gets[n] = (struct cn_http_get){.token = asking->token};
            if (asked->err.kind == CN_ERR_NONE && index < segment->entry->file_count &&
                open_copy(&copies[n], index, &gets[n]))
                n++;
        }
    }
    for (size_t i = 0; i < n; i++)
        gets[i].url = cn_text_str(&copies[i].url);
    cn_http_get_run(gets, n, asking->deadline_ns);
    for (size_t i = 0; i < n; i++) {
        end_copy(&copies[i], &gets[i]);
        cn_text_done(&copies[i].url);
        cn_text_done(&gets[i].answer);
    }
    free(gets);
    free(copies);
}

/* The config is the last one: with it, the files that it needs are there. */
static bool write_config(const struct cn_fresh_segment *segment, struct cn_error *err)
{
    const char *config = segment->entry->config;
    struct cn_file file = {0};
    struct cn_error ignored;
    char *dir = cn_strprintf("%s/%06x", segment->base, segment->number);
    bool ok = cn_file_open_at(&file, dir, CONFIG_NAME, &ignored) &&
              file.bytes.len == strlen(config) &&
              memcmp(file.bytes.ptr, config, file.bytes.len) == 0;

    cn_file_close(&file);
    ok = ok ||
         cn_disk_replace(&cn_disk_files, dir, CONFIG_NAME, config, strlen(config), err);
    free(dir);
    return ok;
}

/* Remove the copies of a collector that it no longer lists. */
static void remove_others(const struct asking *asking, const struct asked *asked)
{
    DIR *dir = opendir(asking->bucket->cache_dir);
    struct cn_text name = {0}, path = {0};
    const struct dirent *found;

    cn_text_printf(&name, COPY_NAME, asked->collector->id);
    while (dir && (found = readdir(dir))) {
        bool is_listed = strncmp(found->d_name, cn_text_str(&name), name.len) != 0;

        cn_text_clear(&path);
        cn_text_printf(&path, "%s/%s", asking->bucket->cache_dir, found->d_name);
        for (size_t k = 0; !is_listed && k < asked->count; k++)
            is_listed = strcmp(asking->fresh->segments[asked->first + k].base,
                               cn_text_str(&path)) == 0;
        if (!is_listed)
            cn_cache_dir_remove(cn_text_str(&path));
    }
    if (dir)
        (void)closedir(dir);
    cn_text_done(&name);
    cn_text_done(&path);
}

/* Copy the segments that were listed. */
static void copy_segments(struct asking *asking)
{
    size_t file_count = 0;

    for (size_t i = 0; i < asking->count; i++) {
        struct asked *asked = &asking->list[i];

        if (asked->is_done)
            continue;
        asked->first = asking->fresh->count;
        for (size_t k = 0; k < asked->count; k++) {
            if (asked->entries[k]->file_count > file_count)
                file_count = asked->entries[k]->file_count;
            (void)!add_segment(asking, asked, asked->entries[k]);
        }
        free(asked->entries);
        asked->entries = NULL;
    }
    for (size_t index = 0; index < file_count; index++)
        copy_files(asking, index);
}

static void take_segments(struct asking *asking, bool is_last)
{
    for (size_t i = 0; i < asking->count; i++) {
        struct asked *asked = &asking->list[i];
        bool ok = asked->err.kind == CN_ERR_NONE;

        if (asked->is_done)
            continue;
        for (size_t k = 0; k < asked->count; k++) {
            struct cn_fresh_segment *segment = &asking->fresh->segments[asked->first + k];

            ok = ok && write_config(segment, &asked->err);
            segment->is_whole = ok;
        }
        if (ok)
            remove_others(asking, asked);
        asked->is_done = ok || !asked->is_moved || is_last;
        if (!asked->is_done)
            asked->err = (struct cn_error){0};
        asked->is_moved = false;
    }
}

/* Only the last one of repeated attempts counts. */
static void drop_parts(struct cn_fresh *fresh)
{
    size_t kept = 0;

    for (size_t i = 0; i < fresh->count; i++) {
        if (fresh->segments[i].is_whole) {
            fresh->segments[kept++] = fresh->segments[i];
        } else {
            cn_manifest_entry_free(fresh->segments[i].entry);
            free(fresh->segments[i].base);
        }
    }
    fresh->count = kept;
}

struct cn_fresh *cn_fresh_fetch(struct cn_bucket *bucket,
                                const struct cn_manifest_collector *collectors,
                                size_t count)
{
    uint64_t wait_ns = cn_s3_settings(bucket->s3)->fresh_s * UINT64_C(1000000000);
    struct cn_fresh *fresh = cn_alloc(1, sizeof(*fresh));
    struct asking asking = {
        .bucket = bucket, .fresh = fresh, .deadline_ns = cn_clock_ns() + wait_ns};
    struct cn_error err;

    if (!read_urls(&asking, collectors, count, &err) || !read_token(&asking, &err)) {
        cn_fresh_note_missing(fresh, "collectors", &err);
        for (size_t i = 0; i < asking.count; i++)
            asking.list[i].is_done = true;
    }
    for (int i = 0; i < ATTEMPTS; i++) {
        ask_lists(&asking);
        copy_segments(&asking);
        take_segments(&asking, i + 1 == ATTEMPTS);
    }
    for (size_t i = 0; i < asking.count; i++) {
        if (asking.list[i].err.kind != CN_ERR_NONE)
            cn_fresh_note_missing(fresh, asking.list[i].url, &asking.list[i].err);
        free(asking.list[i].url);
    }
    drop_parts(fresh);
    free(asking.list);
    free(asking.token);
    return fresh;
}
