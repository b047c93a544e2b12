/* Walks over the objects of a manifest, for its care. */

#include <stdlib.h>
#include <string.h>

#include "base/bytes/digits.h"
#include "base/map.h"
#include "base/text.h"
#include "store/bucket/bucket.h"

#define FOLDER "manifest/"
#define GONE   ".gone"
enum { NUMBER_LEN = 6 };

struct entry_walk {
    struct cn_bucket *bucket;
    struct cn_names *ids;
    struct cn_names *damaged; /* NULL: a damaged entry is a failure */
};

/* The entry that the content of its object is. NULL: it is damaged, or that of another number. */
static struct cn_manifest_entry *decode(const char *key, const struct cn_text *content)
{
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(content), content->len};
    struct cn_manifest_entry *entry = NULL;
    struct cn_error ignored;

    if (!cn_manifest_entry_decode(bytes, &entry, &ignored) ||
        entry->number == strtoul(key + strlen(FOLDER), NULL, 16))
        return entry;
    cn_manifest_entry_free(entry);
    return NULL;
}

/* The id of a note that an entry is gone, or of the entry. An answer that is no sound entry may have been
 * spoiled on its way. */
static bool visit_entry(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    const struct entry_walk *walk = arg;
    bool is_gone = cn_ends_with(object->key, GONE), is_found = false;
    struct cn_s3 *s3 = walk->bucket->s3;
    struct cn_manifest_entry *entry = NULL;
    struct cn_text text = {0};

    if (!cn_hex_begins(object->key + strlen(FOLDER), NUMBER_LEN) ||
        cn_ends_with(object->key, CN_MANIFEST_MERGED))
        return true;
    bool ok = cn_s3_get(s3, object->key, &text, &is_found, err);
    if (ok && is_found && !is_gone && !(entry = decode(object->key, &text)))
        ok = cn_s3_get_twice(s3, object->key, &text, &is_found, err);
    if (ok && is_found && !is_gone && !entry)
        entry = decode(object->key, &text);
    if (ok && is_found && (is_gone || entry))
        (void)cn_names_add(walk->ids, is_gone ? cn_text_str(&text) : entry->id);
    else if (ok && is_found && walk->damaged)
        (void)cn_names_add(walk->damaged, object->key);
    else if (ok && is_found)
        ok = cn_fail(err, CN_ERR_FORMAT, "%s/%s is damaged", walk->bucket->address,
                     object->key);
    cn_manifest_entry_free(entry);
    cn_text_done(&text);
    return ok;
}

bool cn_bucket_list_ids(struct cn_bucket *bucket, struct cn_names *ids,
                        struct cn_names *damaged, struct cn_error *err)
{
    struct entry_walk walk = {bucket, ids, damaged};

    return cn_s3_list(bucket->s3, FOLDER, visit_entry, &walk, err);
}

bool cn_bucket_remove_damaged(struct cn_bucket *bucket, const struct cn_names *damaged,
                              struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < damaged->count; i++)
        ok = cn_s3_remove(bucket->s3, damaged->list[i], err);
    return ok;
}
