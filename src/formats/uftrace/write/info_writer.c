/* The info file of a recording that was not read from one. */

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/text/info_reader.h"
#include "formats/uftrace/write/writer.h"

/* The features of the recording; `has_values`: some function has arguments or a
 * result. */
static uint64_t features_of(const struct cn_recording *rec, bool *has_values)
{
    uint64_t features = rec->features | CN_FEATURE_TASK_SESSION |
                        CN_FEATURE_SYM_REL_ADDR | CN_FEATURE_SYM_SIZE;

    *has_values = false;
    for (uint32_t i = 0; i < rec->function_count; i++) {
        const struct cn_call_function *f = &rec->functions[i];

        *has_values |= f->arguments.count > 0 || f->result.count > 0;
        if (f->arguments.count > 0)
            features |= CN_FEATURE_ARGUMENT | CN_FEATURE_AUTO_ARGS;
        if (f->result.count > 0)
            features |= CN_FEATURE_RETVAL | CN_FEATURE_AUTO_ARGS;
        if (f->line > 0 || f->arguments.count > 0 || f->result.count > 0)
            features |= CN_FEATURE_DEBUG_INFO;
    }
    return features;
}

/* A fact of a counted group has the key "group:key" and the line "group:key=value". */
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

static bool add_group(const struct cn_recording *rec, unsigned bit, bool has_values,
                      struct cn_text *text)
{
    const struct cn_uft_info_group *group = &cn_uft_info_groups[bit];

    if (bit == CN_UFT_INFO_TASKINFO) {
        cn_text_printf(text,
                       "taskinfo:lines=2\ntaskinfo:nr_tid=%" PRIu32 "\ntaskinfo:tids=",
                       rec->task_count);
        for (uint32_t i = 0; i < rec->task_count; i++)
            cn_text_printf(text, "%s%" PRIu32, i > 0 ? "," : "", rec->tasks[i].tid);
        cn_text_char(text, '\n');
        return true;
    }
    if (bit == CN_UFT_INFO_ARG_SPEC) {
        /* The specs are in the .dbg files. */
        if (has_values)
            cn_text_str_add(text, "argspec:lines=1\nauto-args:1\n");
        return has_values;
    }
    if (group->is_counted)
        return add_counted(rec, group->keys[0], text);
    if (bit == CN_UFT_INFO_EXENAME && !cn_recording_fact(rec, "exename") &&
        rec->session_count > 0) {
        cn_text_printf(text, "exename:%s\n", rec->sessions[0].exename);
        return true;
    }
    if (!cn_recording_fact(rec, group->keys[0]))
        return false;
    for (size_t i = 0; i < 2 && group->keys[i]; i++) {
        const char *value = cn_recording_fact(rec, group->keys[i]);

        cn_text_printf(text, "%s:%s\n", group->keys[i], value ? value : "");
    }
    return true;
}

bool cn_uft_write_info(const struct cn_uft_writing *w, struct cn_error *err)
{
    const struct cn_recording *rec = w->rec;
    bool has_values, ok;
    struct cn_uft_info_header head = {
        .version = CN_UFT_VERSION,
        .header_len = cn_uft_info_header_size,
        .byte_order = rec->is_big_endian ? CN_UFT_BIG_ENDIAN : CN_UFT_LITTLE_ENDIAN,
        .word_class = rec->is_32_bit ? CN_UFT_32_BIT : CN_UFT_64_BIT,
        .features = features_of(rec, &has_values),
        .max_stack = rec->max_stack > 0 ? rec->max_stack : 1024,
    };
    uint8_t bytes[cn_uft_info_header_size];
    struct cn_text groups = {0}, file = {0};

    for (unsigned bit = 0; bit < CN_UFT_INFO_COUNT; bit++)
        if (add_group(rec, bit, has_values, &groups))
            head.info_mask |= UINT64_C(1) << bit;
    cn_uft_info_header_encode_any(&head, rec->is_big_endian, bytes);
    memcpy(bytes, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
    cn_text_add(&file, (const char *)bytes, sizeof(bytes));
    cn_text_add(&file, cn_text_str(&groups), groups.len);
    ok = cn_uft_write_text(w, "info", &file, err);
    cn_text_done(&groups);
    cn_text_done(&file);
    return ok;
}
