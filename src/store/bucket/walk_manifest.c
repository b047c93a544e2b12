/* Walks over the objects of a manifest, for its care. */

#include <string.h>

#include "base/bytes/digits.h"
#include "base/map.h"
#include "base/text.h"
#include "store/bucket/bucket.h"

#define FOLDER "manifest/"
#define GONE   ".gone"
enum { NUMBER_LEN = 6 };

/* Call `take` with the content of each entry, or of the note that it is gone. */
typedef bool (*entry_visit)(struct cn_bucket *bucket, const char *key,
                            const struct cn_text *content, void *arg,
                            struct cn_error *err);

struct entry_walk {
    struct cn_bucket *bucket;
    entry_visit take;
    void *arg;
};

static bool visit_entry(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    const struct entry_walk *walk = arg;
    struct cn_text text = {0};
    bool is_found = false, ok;

    if (!cn_hex_begins(object->key + strlen(FOLDER), NUMBER_LEN) ||
        cn_ends_with(object->key, CN_MANIFEST_MERGED))
        return true;
    ok = cn_s3_get(walk->bucket->s3, object->key, &text, &is_found, err) &&
         (!is_found || walk->take(walk->bucket, object->key, &text, walk->arg, err));
    cn_text_done(&text);
    return ok;
}

static bool remove_damaged(struct cn_bucket *bucket, const char *key,
                           const struct cn_text *content, void *arg, struct cn_error *err)
{
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(content), content->len};
    struct cn_manifest_entry *entry = NULL;
    struct cn_error ignored;
    bool is_sound =
        cn_ends_with(key, GONE) || cn_manifest_entry_decode(bytes, &entry, &ignored);

    (void)arg;
    cn_manifest_entry_free(entry);
    return is_sound || cn_s3_remove(bucket->s3, key, err);
}

static bool add_id(struct cn_bucket *bucket, const char *key,
                   const struct cn_text *content, void *arg, struct cn_error *err)
{
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(content), content->len};
    struct cn_manifest_entry *entry;

    (void)bucket;
    if (cn_ends_with(key, GONE)) {
        (void)cn_names_add(arg, cn_text_str(content));
        return true;
    }
    if (!cn_manifest_entry_decode(bytes, &entry, err))
        return cn_fail_in(err, "%s", key);
    (void)cn_names_add(arg, entry->id);
    cn_manifest_entry_free(entry);
    return true;
}

bool cn_bucket_remove_damaged(struct cn_bucket *bucket, struct cn_error *err)
{
    struct entry_walk walk = {bucket, remove_damaged, NULL};

    return cn_s3_list(bucket->s3, FOLDER, visit_entry, &walk, err);
}

bool cn_bucket_list_ids(struct cn_bucket *bucket, struct cn_names *ids,
                        struct cn_error *err)
{
    struct entry_walk walk = {bucket, add_id, ids};

    return cn_s3_list(bucket->s3, FOLDER, visit_entry, &walk, err);
}
