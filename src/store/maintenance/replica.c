#include "store/maintenance/replica.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/files/chunk_format.h"
#include "base/files/file.h"
#include "base/path.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "store/bucket/bucket.h"
#include "store/maintenance/commit_object.h"
#include "store/maintenance/unsealed_list.h"
#include "store/maintenance/upload.h"
#include "store/segment/log_format.h"
#include "store/segment/segments.h"

enum { PART_LEN = 8 << 20 };

struct cn_replica {
    struct cn_bucket *bucket;
    char id[CN_MANIFEST_ID_LEN + 1]; /* of the collector */
};

void cn_replica_lane_done(struct cn_replica_lane *lane)
{
    free(lane->dir);
    *lane = (struct cn_replica_lane){0};
}

void cn_replica_lane_reset(struct cn_replica_lane *lane)
{
    lane->text_off = lane->data_off = 0;
    lane->is_behind = lane->dir != NULL;
}

static bool note_last(void *arg, const struct cn_s3_object *object, struct cn_error *err)
{
    (void)err;
    *(uint64_t *)arg = strtoull(cn_path_name(object->key), NULL, 16);
    return true;
}

/* Begin with another segment. Its objects may be from before a restart, when the clock was late. */
static bool begin(struct cn_replica *replica, struct cn_replica_lane *lane,
                  const char *dir, struct cn_error *err)
{
    struct cn_replica_lane next = {.dir = cn_strdup(dir), .is_behind = true};
    bool is_named, ok = cn_upload_id(dir, next.id, &is_named, err);
    char *key = cn_strprintf(CN_COMMITS "%s/%s/", replica->id, next.id);

    ok = ok && cn_s3_list(replica->bucket->s3, key, note_last, &next.number, err);
    free(key);
    if (!ok) {
        cn_replica_lane_done(&next);
        return false;
    }
    cn_replica_lane_done(lane);
    *lane = next;
    return true;
}

static struct cn_bytes part_of(struct cn_bytes all, uint64_t off)
{
    struct cn_bytes rest = {0};

    (void)cn_bytes_from(all, off, &rest);
    rest.len = rest.len < PART_LEN ? rest.len : PART_LEN;
    return rest;
}

/* Words first: those of all copied chunks are there. */
static bool send_part(struct cn_replica *replica, struct cn_replica_lane *lane,
                      struct cn_bytes text, struct cn_bytes data, struct cn_bytes config,
                      struct cn_error *err)
{
    struct cn_commit_object commit = {
        .text_off = lane->text_off,
        .text = part_of(text, lane->text_off),
        .data_off = lane->data_off,
        .config = config,
    };
    uint64_t now_ns = cn_clock_date_ns(), number;
    struct cn_cbor_out out = {0};

    if (commit.text_off + commit.text.len >= text.len)
        commit.data = part_of(data, lane->data_off);
    number = now_ns > lane->number ? now_ns : lane->number + 1;
    cn_commit_object_encode(&commit, &out);
    char *key =
        cn_strprintf(CN_COMMITS "%s/%s/%016" PRIx64, replica->id, lane->id, number);
    bool ok = cn_s3_put(replica->bucket->s3, key, (struct cn_bytes){out.bytes, out.len},
                        NULL, err);
    cn_cbor_out_done(&out);
    free(key);
    /* A failed put may have arrived. */
    lane->number = number;
    if (ok) {
        lane->text_off += commit.text.len;
        lane->data_off += commit.data.len;
    }
    return ok;
}

/* Files that are gone belong to a segment that was uploaded. */
static bool send_rest(struct cn_replica *replica, struct cn_replica_lane *lane,
                      struct cn_error *err)
{
    struct cn_file text = {0}, data = {0}, config = {0};
    struct cn_error unread;
    bool ok = true;

    if (cn_file_open_at(&data, lane->dir, CN_TRACES_NAME, &unread) &&
        cn_file_open_at(&text, lane->dir, CN_TEXT_LOG_NAME, &unread) &&
        cn_file_open_at(&config, lane->dir, CN_CONFIG_NAME, &unread))
        while (ok && (lane->text_off < text.bytes.len || lane->data_off < data.bytes.len))
            ok = send_part(replica, lane, text.bytes, data.bytes, config.bytes, err);
    else if (access(lane->dir, F_OK) == 0)
        ok = cn_fail(err, CN_ERR_IO, "%s", unread.text);
    cn_file_close(&text);
    cn_file_close(&data);
    cn_file_close(&config);
    if (ok)
        lane->is_behind = false;
    return ok;
}

bool cn_replica_send(struct cn_replica *replica, struct cn_replica_lane *lane,
                     const char *dir, struct cn_error *err)
{
    bool is_other = dir && (!lane->dir || strcmp(lane->dir, dir) != 0);

    if (is_other && lane->is_behind && !send_rest(replica, lane, err))
        return false;
    if (is_other && !begin(replica, lane, dir, err))
        return false;
    if (dir)
        lane->is_behind = true;
    return !lane->is_behind || send_rest(replica, lane, err);
}

/* Copy a segment that an earlier start has left. */
static bool send_segment(struct cn_replica *replica, const char *base, uint32_t number,
                         struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_replica_lane lane = {0};
    bool ok =
        cn_upload_is_done(base, number) || cn_replica_send(replica, &lane, dir, err);

    cn_replica_lane_done(&lane);
    free(dir);
    return ok;
}

bool cn_replica_open(struct cn_replica **out, const char *address, const char *base,
                     const char *url, struct cn_error *err)
{
    struct cn_replica *replica = cn_alloc(1, sizeof(*replica));
    uint32_t *numbers = NULL;
    size_t count = 0;
    bool ok = cn_collector_id(base, replica->id, err) &&
              cn_bucket_open(&replica->bucket, address, err) &&
              cn_bucket_register(replica->bucket, replica->id, url, err) &&
              cn_segments_list(base, &numbers, &count, err);

    for (size_t i = 0; ok && i < count; i++)
        ok = send_segment(replica, base, numbers[i], err);
    free(numbers);
    if (!ok) {
        cn_replica_close(replica);
        return cn_fail_in(err, "--replicate");
    }
    *out = replica;
    return true;
}

void cn_replica_close(struct cn_replica *replica)
{
    if (!replica)
        return;
    cn_bucket_close(replica->bucket);
    free(replica);
}
