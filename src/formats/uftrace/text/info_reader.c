#include "formats/uftrace/text/info_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/uftrace/text/scan.h"

#define COST_MAX_NS 1e6 /* the largest cost of a call that is believed */

const struct cn_uft_info_group cn_uft_info_groups[CN_UFT_INFO_COUNT] = {
    [CN_UFT_INFO_EXENAME] = {{"exename"}, false},
    [CN_UFT_INFO_BUILD_ID] = {{"build_id"}, false},
    [CN_UFT_INFO_EXIT_STATUS] = {{"exit_status"}, false},
    [CN_UFT_INFO_CMDLINE] = {{"cmdline"}, false},
    [CN_UFT_INFO_CPUINFO] = {{"cpuinfo"}, true},
    [CN_UFT_INFO_MEMINFO] = {{"meminfo"}, false},
    [CN_UFT_INFO_OSINFO] = {{"osinfo"}, true},
    [CN_UFT_INFO_TASKINFO] = {{"taskinfo"}, true},
    [CN_UFT_INFO_USAGEINFO] = {{"usageinfo"}, true},
    [CN_UFT_INFO_LOADINFO] = {{"loadinfo"}, false},
    [CN_UFT_INFO_ARG_SPEC] = {{"argspec"}, true},
    [CN_UFT_INFO_RECORD_DATE] = {{"record_date", "elapsed_time"}, false},
    [CN_UFT_INFO_PATTERN_TYPE] = {{"pattern_type"}, false},
    [CN_UFT_INFO_VERSION] = {{"uftrace_version"}, false},
    [CN_UFT_INFO_UTC_OFFSET] = {{"utc_offset"}, false},
    [CN_UFT_INFO_SYSCTL] = {{"sysctl"}, false},
};

bool cn_uft_info_header_read(struct cn_bytes file, struct cn_uft_info_header *out,
                             struct cn_error *err)
{
    struct cn_uft_info_header head;

    if (!cn_uft_info_header_decode(file, &head) ||
        !cn_uft_info_header_decode_any(file, head.byte_order == CN_UFT_BIG_ENDIAN, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%zu bytes are too short for the header of %d bytes", file.len,
                       cn_uft_info_header_size);
    if (memcmp(file.ptr, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN) != 0)
        return cn_fail(err, CN_ERR_FORMAT, "does not begin with \"%s\"", CN_UFT_MAGIC);
    if (head.byte_order != CN_UFT_LITTLE_ENDIAN && head.byte_order != CN_UFT_BIG_ENDIAN)
        return cn_fail(err, CN_ERR_FORMAT, "byte order %u is neither 1 nor 2",
                       head.byte_order);
    if (head.version < CN_UFT_VERSION_MIN || head.version > CN_UFT_VERSION)
        return cn_fail(err, CN_ERR_VERSION,
                       "version %" PRIu32 " is not supported; supported are %d and %d",
                       head.version, CN_UFT_VERSION_MIN, CN_UFT_VERSION);
    if (head.word_class != CN_UFT_32_BIT && head.word_class != CN_UFT_64_BIT)
        return cn_fail(err, CN_ERR_FORMAT, "word class %u is neither 1 nor 2",
                       head.word_class);
    *out = head;
    return true;
}

static void add_fact(struct cn_uft_facts *facts, struct cn_arena *arena,
                     struct cn_bytes key, struct cn_bytes value)
{
    CN_PUSH(facts->list, facts->count, facts->capacity,
            (struct cn_fact){
                .key = cn_uft_text_copy(arena, key),
                .value = cn_uft_text_copy(arena, value),
            });
}

static bool next_line(struct cn_uft_lines *lines, const char *key, struct cn_bytes *out,
                      struct cn_error *err)
{
    enum cn_step step = cn_uft_lines_next(lines, out, err);

    if (step == CN_END)
        return cn_fail(err, CN_ERR_FORMAT, "line %s: is missing at the end", key);
    return step == CN_ITEM;
}

static bool expect_key(struct cn_uft_lines *lines, const char *key,
                       struct cn_bytes *value, struct cn_error *err)
{
    struct cn_bytes line, rest;

    if (!next_line(lines, key, &line, err))
        return false;
    rest = line;
    if (!cn_uft_scan_literal(&rest, key) || !cn_uft_scan_literal(&rest, ":"))
        return cn_fail(err, CN_ERR_FORMAT,
                       "line %" PRIu64 ": expected %s:, found \"%.*s\"", lines->number,
                       key, (int)(line.len < 40 ? line.len : 40), (const char *)line.ptr);
    *value = rest;
    return true;
}

/* "cpuinfo:desc=ARM64" is the fact "cpuinfo:desc"; "argauto:..." is the fact
 * "argauto". */
static bool read_member(struct cn_uft_lines *lines, const char *group,
                        struct cn_arena *arena, struct cn_uft_facts *out,
                        struct cn_error *err)
{
    struct cn_bytes line, key, value;
    bool is_spec = strcmp(group, "argspec") == 0;

    if (!next_line(lines, group, &line, err))
        return false;
    value = line;
    if (!cn_uft_scan_until(&value, ':', &key) ||
        (!is_spec && !cn_uft_text_equals(key, group)))
        return cn_fail(err, CN_ERR_FORMAT, "line %" PRIu64 ": not part of %s: \"%.*s\"",
                       lines->number, group, (int)(line.len < 40 ? line.len : 40),
                       (const char *)line.ptr);
    const uint8_t *equals =
        is_spec || value.len == 0 ? NULL : memchr(value.ptr, '=', value.len);
    if (equals) {
        (void)cn_bytes_slice(line, 0, (uint64_t)(equals - line.ptr), &key);
        (void)cn_bytes_from(line, key.len + 1, &value);
    }
    add_fact(out, arena, key, value);
    return true;
}

static bool read_group(struct cn_uft_lines *lines, const struct cn_uft_info_group *group,
                       struct cn_arena *arena, struct cn_uft_facts *out,
                       struct cn_error *err)
{
    struct cn_bytes value;
    uint64_t count;

    if (group->is_counted) {
        if (!expect_key(lines, group->keys[0], &value, err))
            return false;
        if (!cn_uft_scan_literal(&value, "lines=") || !cn_uft_scan_dec(&value, &count))
            return cn_fail(err, CN_ERR_FORMAT,
                           "line %" PRIu64 ": the number of lines of %s is missing",
                           lines->number, group->keys[0]);
        for (uint64_t i = 0; i < count; i++)
            if (!read_member(lines, group->keys[0], arena, out, err))
                return false;
        return true;
    }
    for (size_t i = 0; i < 2 && group->keys[i]; i++) {
        struct cn_bytes key = cn_bytes_of(group->keys[i]);

        if (!expect_key(lines, group->keys[i], &value, err))
            return false;
        add_fact(out, arena, key, value);
    }
    return true;
}

/* Groups of a later version: unknown, but their text becomes facts. */
static bool read_rest(struct cn_uft_lines *lines, struct cn_arena *arena,
                      struct cn_uft_facts *out, struct cn_error *err)
{
    struct cn_bytes line, key;
    enum cn_step step;

    while ((step = cn_uft_lines_next(lines, &line, err)) == CN_ITEM)
        if (cn_uft_scan_until(&line, ':', &key))
            add_fact(out, arena, key, line);
    return step == CN_END;
}

bool cn_uft_facts_read(struct cn_bytes file, uint64_t info_mask, struct cn_arena *arena,
                       struct cn_uft_facts *out, struct cn_error *err)
{
    struct cn_uft_lines lines;
    struct cn_bytes text;

    if (!cn_bytes_from(file, cn_uft_info_header_size, &text))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%zu bytes are too short for the header of %d bytes", file.len,
                       cn_uft_info_header_size);
    cn_uft_lines_begin(&lines, text);
    for (unsigned bit = 0; bit < CN_UFT_INFO_COUNT; bit++)
        if (cn_bits(info_mask, bit, 1) &&
            !read_group(&lines, &cn_uft_info_groups[bit], arena, out, err))
            return false;
    return read_rest(&lines, arena, out, err);
}

/* The value of "KEY=31.200ns" in the text, in picoseconds; 0 when it is missing. */
static uint64_t find_cost(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    double ns = at ? strtod(at + strlen(key), NULL) : 0;

    return ns > 0 && ns < COST_MAX_NS ? (uint64_t)(ns * 1000 + 0.5) : 0;
}

void cn_uft_hook_costs_parse(const char *version, struct cn_recording *rec)
{
    struct cn_hook_cost plain = {find_cost(version, " call-cost="),
                                 find_cost(version, " call-inner=")};
    struct cn_hook_cost library = {find_cost(version, " libcall-cost="),
                                   find_cost(version, " libcall-inner=")};

    if (plain.inner_ps <= plain.call_ps)
        rec->call_cost = plain;
    if (library.inner_ps <= library.call_ps)
        rec->libcall_cost = library;
    rec->left_out_ps = find_cost(version, " left-out=");
    rec->begins_off = strstr(version, " begins-off ") != NULL;
    rec->has_value_costs = plain.call_ps > 0 && strstr(version, " values ");
}
