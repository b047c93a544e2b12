/* The info file of a recording that has none: its facts in groups, behind the
 * header. */

#include <inttypes.h>
#include <string.h>

#include "base/files/out.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/text/info_reader.h"
#include "formats/uftrace/write/writer.h"

static bool has_specs(const struct cn_recording *rec, bool is_result)
{
    for (uint32_t i = 0; i < rec->function_count; i++)
        if ((is_result ? rec->functions[i].result : rec->functions[i].arguments).count >
            0)
            return true;
    return false;
}

static bool has_lines(const struct cn_recording *rec)
{
    for (uint32_t i = 0; i < rec->function_count; i++)
        if (rec->functions[i].line > 0)
            return true;
    return false;
}

/* The facts of a counted group are "group:key"; their line is "group:key=value". */
static bool is_member(const char *key, const char *group)
{
    size_t len = strlen(group);

    return strncmp(key, group, len) == 0 && key[len] == ':';
}

static bool add_counted(const struct cn_recording *rec, const char *group,
                        struct cn_text *text)
{
    size_t count = 0;

    for (uint32_t i = 0; i < rec->fact_count; i++)
        count += is_member(rec->facts[i].key, group);
    if (count == 0)
        return false;
    cn_text_printf(text, "%s:lines=%zu\n", group, count);
    for (uint32_t i = 0; i < rec->fact_count; i++)
        if (is_member(rec->facts[i].key, group))
            cn_text_printf(text, "%s=%s\n", rec->facts[i].key, rec->facts[i].value);
    return true;
}

static bool add_plain(const struct cn_recording *rec,
                      const struct cn_uft_info_group *group, struct cn_text *text)
{
    if (!cn_recording_fact(rec, group->keys[0]))
        return false;
    for (size_t i = 0; i < 2 && group->keys[i]; i++) {
        const char *value = cn_recording_fact(rec, group->keys[i]);

        cn_text_printf(text, "%s:%s\n", group->keys[i], value ? value : "");
    }
    return true;
}

static bool add_tasks(const struct cn_recording *rec, struct cn_text *text)
{
    cn_text_printf(text, "taskinfo:lines=2\ntaskinfo:nr_tid=%" PRIu32 "\ntaskinfo:tids=",
                   rec->task_count);
    for (uint32_t i = 0; i < rec->task_count; i++)
        cn_text_printf(text, "%s%" PRIu32, i > 0 ? "," : "", rec->tasks[i].tid);
    cn_text_char(text, '\n');
    return true;
}

/* The specifications themselves are in the .dbg files, function by function. */
static bool add_specs(const struct cn_recording *rec, struct cn_text *text)
{
    if (!has_specs(rec, false) && !has_specs(rec, true))
        return false;
    cn_text_str_add(text, "argspec:lines=1\nauto-args:1\n");
    return true;
}

static bool add_group(const struct cn_recording *rec, unsigned bit, struct cn_text *text)
{
    const struct cn_uft_info_group *group = &cn_uft_info_groups[bit];

    if (bit == CN_UFT_INFO_TASKINFO)
        return add_tasks(rec, text);
    if (bit == CN_UFT_INFO_ARG_SPEC)
        return add_specs(rec, text);
    if (bit == CN_UFT_INFO_EXENAME && !cn_recording_fact(rec, "exename") &&
        rec->session_count > 0) {
        cn_text_printf(text, "exename:%s\n", rec->sessions[0].exename);
        return true;
    }
    return group->is_counted ? add_counted(rec, group->keys[0], text)
                             : add_plain(rec, group, text);
}

static uint64_t features_of(const struct cn_recording *rec)
{
    uint64_t features = rec->features | CN_FEATURE_TASK_SESSION |
                        CN_FEATURE_SYM_REL_ADDR | CN_FEATURE_SYM_SIZE;

    if (has_specs(rec, false))
        features |= CN_FEATURE_ARGUMENT | CN_FEATURE_AUTO_ARGS | CN_FEATURE_DEBUG_INFO;
    if (has_specs(rec, true))
        features |= CN_FEATURE_RETVAL | CN_FEATURE_AUTO_ARGS | CN_FEATURE_DEBUG_INFO;
    if (has_lines(rec))
        features |= CN_FEATURE_DEBUG_INFO;
    return features;
}

static void encode_header(const struct cn_recording *rec, uint64_t info_mask,
                          uint8_t out[cn_uft_info_header_size])
{
    struct cn_uft_info_header head = {
        .version = CN_UFT_VERSION,
        .header_len = cn_uft_info_header_size,
        .byte_order = rec->is_big_endian ? CN_UFT_BIG_ENDIAN : CN_UFT_LITTLE_ENDIAN,
        .word_class = rec->is_32_bit ? CN_UFT_32_BIT : CN_UFT_64_BIT,
        .features = features_of(rec),
        .info_mask = info_mask,
        .max_stack = rec->max_stack > 0 ? rec->max_stack : 1024,
    };
    struct cn_uft_info_header_be big = {head.version,    head.header_len, head.byte_order,
                                        head.word_class, head.features,   head.info_mask,
                                        head.max_stack};

    if (rec->is_big_endian)
        cn_uft_info_header_be_encode(&big, out);
    else
        cn_uft_info_header_encode(&head, out);
    memcpy(out, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
}

bool cn_uft_write_info(const struct cn_uft_writing *w, struct cn_error *err)
{
    uint8_t head[cn_uft_info_header_size];
    struct cn_text groups = {0}, file = {0};
    uint64_t info_mask = 0;
    bool ok;

    for (unsigned bit = 0; bit < CN_UFT_INFO_COUNT; bit++)
        if (add_group(w->rec, bit, &groups))
            info_mask |= UINT64_C(1) << bit;
    encode_header(w->rec, info_mask, head);
    cn_text_add(&file, (const char *)head, sizeof(head));
    cn_text_add(&file, cn_text_str(&groups), groups.len);
    ok = cn_uft_write_text(w, "info", &file, err);
    cn_text_done(&groups);
    cn_text_done(&file);
    return ok;
}
