/* Reader of the output of perf script: a line "comm tid time: period event:" for each
 * sample, then a line "address symbol+0x10 (module)" for each frame, the innermost first. Without
 * call chains the one frame is at the end of the line of the sample. Time and period may be missing.
 *
 * Where the thread or the event is missing (-F comm,ip,sym), the file is brief: any text may begin a
 * sample, and frames are known by the width of their addresses. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json_reader.h"
#include "formats/exchange/perf/latency.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/stacks/import.h"

/* Widths of fields of perf script. */
enum { NS_DIGITS = 9, ADDRESS_WIDTH = 16, PERIOD_WIDTH = 10 };

struct head {
    uint64_t pid, tid;
    bool has_pid, has_tid, has_time;
    uint64_t time_ns;
    uint64_t period;
    bool has_period;
    struct cn_bytes event;
    struct cn_bytes frame; /* what follows the event */
};

struct script {
    struct cn_import *import;
    uint32_t frames[CN_IMPORT_DEPTH_MAX]; /* the innermost first */
    size_t depth;
    struct head head;
    bool has_head;
    bool has_frame;      /* at the end of the line of the sample */
    struct cn_text name; /* of the event */
    uint64_t number, head_number, first_bad, bad_count; /* of lines */
    bool has_sample;
    bool is_brief, has_threads, has_times, has_events;
    bool is_cut; /* the last line is not whole */
    struct cn_perf_latency latency;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* "15313.893375:" */
static bool is_time(struct cn_bytes word, uint64_t *time_ns)
{
    int64_t value;

    if (word.len < 4 || word.ptr[word.len - 1] != ':' || !memchr(word.ptr, '.', word.len))
        return false;
    word.len--;
    if (!cn_json_as_scaled(word, NS_DIGITS, &value) || value < 0)
        return false;
    *time_ns = (uint64_t)value;
    return true;
}

/* "1234" or "1234/1235". */
static bool read_ids(struct cn_bytes word, struct head *head)
{
    const uint8_t *slash = word.len > 0 ? memchr(word.ptr, '/', word.len) : NULL;
    struct cn_bytes pid, tid = word;

    head->has_pid = slash != NULL;
    if (slash) {
        if (!cn_bytes_slice(word, 0, (size_t)(slash - word.ptr), &pid) ||
            !cn_bytes_from(word, pid.len + 1, &tid) || !cn_json_as_u64(pid, &head->pid))
            return false;
    }
    head->has_tid = cn_json_as_u64(tid, &head->tid);
    return head->has_tid;
}

static bool is_period(struct cn_bytes word)
{
    uint64_t period;

    return cn_json_as_u64(word, &period);
}

/* A line that begins a sample. The name of the command may contain blanks: the ids are the last word
 * before the time, or before the processor, "[003]". Without a time they are the word before the
 * event, or before the period of it. */
static bool read_head(struct cn_bytes line, struct head *head)
{
    struct cn_bytes rest = line, word, before = {0}, ids = {0};

    *head = (struct head){.period = 1};
    for (;;) {
        word = cn_word_take(&rest);
        if (word.len == 0)
            return false;
        head->has_time = is_time(word, &head->time_ns);
        if (head->has_time || (before.len > 0 && word.ptr[word.len - 1] == ':'))
            break;
        if (word.ptr[0] == '[' && before.len > 0)
            continue;
        ids = before;
        before = word;
    }
    /* "comm 12 1000 cycles:" has a period, "comm 12 cycles:" has none. */
    head->has_period = !head->has_time && is_period(before) && read_ids(ids, head);
    if (head->has_period)
        (void)cn_json_as_u64(before, &head->period);
    else if (!read_ids(before, head))
        return false;
    if (head->has_time) {
        word = cn_word_take(&rest);
        head->has_period = cn_json_as_u64(word, &head->period);
        if (head->has_period)
            word = cn_word_take(&rest);
    }
    while (word.len > 0 && word.ptr[word.len - 1] == ':')
        word.len--;
    head->event = word;
    head->frame = rest;
    return word.len > 0;
}

/* Split a frame into its name, without "+0x10", and its module, without parentheses. */
static bool read_frame(struct cn_bytes line, struct cn_bytes *name,
                       struct cn_bytes *module)
{
    struct cn_bytes rest = line, address = cn_word_take(&rest);
    size_t open = 0, len;

    if (address.len == 0 || !cn_hex_is(address.ptr, address.len))
        return false;
    while (rest.len > 0 && is_blank(rest.ptr[0]))
        (void)cn_bytes_from(rest, 1, &rest);
    *module = (struct cn_bytes){rest.ptr, 0};
    *name = rest;
    for (size_t i = 0; i + 1 < rest.len; i++)
        if (rest.ptr[i] == ' ' && rest.ptr[i + 1] == '(')
            open = i;
    if (open > 0 && rest.ptr[rest.len - 1] == ')') {
        (void)cn_bytes_slice(rest, open + 2, rest.len - open - 3, module);
        (void)cn_bytes_slice(rest, 0, open, name);
    }
    for (len = name->len; len > 2; len--)
        if (memcmp(name->ptr + len - 3, "+0x", 3) == 0) {
            name->len = len - 3;
            break;
        }
    return true;
}

/* The last word of a text, and what is before it without the blanks between them; `width` is that of
 * a field which has these blanks except for one. False if there is none. */
static bool take_last_word(struct cn_bytes *text, struct cn_bytes *word, size_t *width)
{
    size_t end = text->len, begin, blanks = 0;

    while (end > 0 && is_blank(text->ptr[end - 1]))
        end--;
    for (begin = end; begin > 0 && !is_blank(text->ptr[begin - 1]);)
        begin--;
    if (begin == end || !cn_bytes_slice(*text, begin, end - begin, word))
        return false;
    while (begin > blanks && is_blank(text->ptr[begin - blanks - 1]))
        blanks++;
    *width = end - begin + (blanks > 0 ? blanks - 1 : 0);
    text->len = begin - blanks;
    return true;
}

/* What a brief file says of a sample before its frames: "comm", "comm 12", "comm 12/13 [001] 1.5: 1000
 * cycles:", or nothing. */
static void read_brief_head(struct cn_bytes text, struct head *head)
{
    struct cn_bytes word;
    size_t width;

    *head = (struct head){.period = 1};
    while (take_last_word(&text, &word, &width)) {
        if (is_time(word, &head->time_ns)) {
            head->has_time = true;
        } else if (word.ptr[word.len - 1] == ':') {
            while (word.len > 0 && word.ptr[word.len - 1] == ':')
                word.len--;
            head->event = word;
        } else if (is_period(word) && width >= PERIOD_WIDTH) {
            head->has_period = cn_json_as_u64(word, &head->period);
        } else if (word.ptr[0] != '[') {
            (void)read_ids(word, head); /* else the end of the name of the command */
            return;
        }
    }
}

/* Split a line of a brief file before the frame at its end: an address in a field of its own, and a
 * name. False if there is none. */
static bool split_brief(struct cn_bytes line, struct cn_bytes *before,
                        struct cn_bytes *frame)
{
    struct cn_bytes rest = line;
    size_t found = 0;

    for (;;) {
        struct cn_bytes word = cn_word_take(&rest);
        size_t end = line.len - rest.len, width = word.len;

        if (word.len == 0 || rest.len < 2)
            break;
        if (end <= ADDRESS_WIDTH || word.len > ADDRESS_WIDTH ||
            !cn_hex_is(word.ptr, word.len))
            continue;
        while (width < end && is_blank(line.ptr[end - width - 1]))
            width++;
        if (width > ADDRESS_WIDTH)
            found = end - ADDRESS_WIDTH;
    }
    return found > 0 && cn_bytes_slice(line, 0, found, before) &&
           cn_bytes_from(line, found, frame);
}

/* A frame of a chain: on a line of its own, after a tab. */
static bool is_chained(struct cn_bytes before)
{
    return before.len == 1 && before.ptr[0] == '\t';
}

static bool is_text(struct cn_bytes bytes, const char *text)
{
    return bytes.len == strlen(text) && memcmp(bytes.ptr, text, bytes.len) == 0;
}

static void add_frame(struct script *s, struct cn_bytes name, struct cn_bytes module)
{
    bool is_inlined = is_text(module, "inlined");
    char *own = cn_strdup(cn_import_str(s->import, name));

    if (s->depth < CN_IMPORT_DEPTH_MAX)
        s->frames[s->depth++] = cn_import_frame(
            s->import, &(struct cn_import_frame){
                           .name = own,
                           .module = is_inlined || is_text(module, CN_IMPORT_UNKNOWN)
                                         ? ""
                                         : cn_import_str(s->import, module),
                           .file = "",
                           .is_inlined = is_inlined,
                       });
    free(own);
}

/* Add the current sample. */
static bool end_sample(struct script *s, struct cn_error *err)
{
    struct cn_import_identity identity = {.name = ""};
    uint32_t metric, thread, context = 0;

    if (!s->has_head)
        return true;
    s->has_head = false;
    /* In a brief file, text without a frame is no sample. */
    if (s->is_brief && s->depth == 0) {
        if (s->bad_count++ == 0)
            s->first_bad = s->head_number;
        return true;
    }
    s->has_sample = true;
    s->has_threads |= s->head.has_tid;
    s->has_times |= s->head.has_time;
    s->has_events |= s->head.event.len > 0;
    identity.kinds[0] = s->head.has_pid ? "PROCESS" : "THREAD";
    identity.numbers[0] = s->head.has_pid ? s->head.pid : s->head.tid;
    if (s->head.has_pid) {
        identity.kinds[1] = "THREAD";
        identity.numbers[1] = s->head.tid;
    }
    cn_text_clear(&s->name);
    cn_text_str_add(&s->name, cn_import_str(s->import, s->head.event));
    /* Without a period only samples can be counted, whatever the event counts. */
    bool is_clock = s->head.has_period && strstr(cn_text_str(&s->name), "-clock");
    if (s->head.event.len == 0)
        cn_text_str_add(&s->name, s->head.has_period ? "period" : "samples");
    else if (!s->head.has_period)
        cn_text_str_add(&s->name, " samples");
    if (is_clock)
        cn_text_str_add(&s->name, " (sec)");
    if (!cn_import_metric(s->import, cn_text_str(&s->name), &metric, err) ||
        !cn_import_thread(s->import, &identity, &thread, err))
        return false;
    while (s->depth > 0)
        context = cn_import_call(s->import, context, s->frames[--s->depth]);
    if (s->head.has_time)
        cn_import_sample(s->import, thread, s->head.time_ns, context);
    if (is_clock)
        cn_import_tick(s->import, thread, s->head.period);
    if (is_clock && s->head.has_time)
        cn_perf_latency_tick(&s->latency, thread,
                             (struct cn_perf_spot){.context = context}, s->head.time_ns,
                             s->head.period);
    return cn_import_add(s->import, thread, context, metric,
                         (double)s->head.period * (is_clock ? 1e-9 : 1), err);
}

/* A frame of the current sample. Those that begin a line have a module, and a sample whose line has
 * its frame has no others. */
static bool is_frame(const struct script *s, struct cn_bytes line, struct cn_bytes *name,
                     struct cn_bytes *module)
{
    struct head head;

    return s->has_head && read_frame(line, name, module) &&
           (is_blank(line.ptr[0]) ? !s->has_frame || !read_head(line, &head)
                                  : module->len > 0 && !read_head(line, &head));
}

static bool read_brief_line(struct script *s, struct cn_bytes line, struct cn_error *err)
{
    struct cn_bytes name, module, before = line, frame;
    bool has_frame =
        split_brief(line, &before, &frame) && read_frame(frame, &name, &module);
    bool is_first = !s->has_head || !has_frame || !is_chained(before);

    if (is_first && !end_sample(s, err))
        return false;
    if (is_first) {
        s->depth = 0;
        s->has_head = has_frame || line.ptr[0] != '#';
        s->head_number = s->number;
        read_brief_head(before, &s->head);
    }
    if (has_frame)
        add_frame(s, name, module);
    return true;
}

/* Warn once of what a brief file does not say. */
static void warn_brief(const struct script *s)
{
    struct cn_text missing = {0};

    if (!s->has_threads)
        cn_text_str_add(&missing, ", threads");
    if (!s->has_times)
        cn_text_str_add(&missing, ", times");
    if (!s->has_events)
        cn_text_str_add(&missing, ", events");
    if (missing.len > 0)
        cn_import_warn(s->import, false,
                       "samples have no%s, which are unknown; perf script -F "
                       "comm,pid,tid,time,event,period,ip,sym,dso writes them",
                       cn_text_str(&missing) + 1);
    cn_text_done(&missing);
}

/* What the first line that is not empty and no comment says. */
static bool is_brief(struct cn_bytes rest)
{
    struct cn_bytes line;
    struct head head;

    do
        line = cn_line_take(&rest);
    while (rest.len > 0 && (line.len == 0 || line.ptr[0] == '#'));
    return !read_head(line, &head);
}

static bool read_line(struct script *s, struct cn_bytes line, struct cn_error *err)
{
    struct cn_bytes name, module, rest = line;

    if (cn_word_take(&rest).len == 0)
        return end_sample(s, err);
    if (s->is_brief)
        return read_brief_line(s, line, err);
    s->is_cut = false;
    if (is_frame(s, line, &name, &module)) {
        s->is_cut = module.len == 0;
        add_frame(s, name, module);
        return true;
    }
    if (!end_sample(s, err))
        return false;
    s->depth = 0;
    /* A comment. */
    if (line.ptr[0] == '#')
        return true;
    s->has_head = read_head(line, &s->head);
    s->has_frame = s->has_head && read_frame(s->head.frame, &name, &module);
    if (s->has_frame)
        add_frame(s, name, module);
    s->is_cut = !s->has_head;
    if (!s->has_head && s->bad_count++ == 0)
        s->first_bad = s->number;
    return true;
}

bool cn_perf_script_read(struct cn_import *import, struct cn_bytes bytes,
                         struct cn_error *err)
{
    struct script *s = cn_alloc(1, sizeof(*s));
    struct cn_bytes rest = bytes;
    bool ok = true;

    s->import = import;
    s->is_brief = is_brief(bytes);
    while (ok && rest.len > 0) {
        s->number++;
        ok = read_line(s, cn_line_take(&rest), err);
    }
    ok = ok && end_sample(s, err) && cn_perf_latency_finish(&s->latency, import, err);
    if (ok && s->bad_count > 0 && !s->has_sample)
        ok = cn_fail(err, CN_ERR_FORMAT, "line %" PRIu64 ": expected a sample or a frame",
                     s->first_bad);
    if (s->is_cut && bytes.ptr[bytes.len - 1] != '\n')
        cn_import_warn(import, true, "line %" PRIu64 ": the file is cut off", s->number);
    if (s->bad_count > 0)
        cn_import_warn(import, false,
                       "lines that are neither a sample nor a frame are skipped: %" PRIu64
                       ", the first is line %" PRIu64,
                       s->bad_count, s->first_bad);
    if (s->is_brief && s->has_sample)
        warn_brief(s);
    cn_perf_latency_done(&s->latency);
    cn_text_done(&s->name);
    free(s);
    return ok;
}

/* A sample, and a frame in it or after it. */
static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    struct cn_bytes rest = beginning, line, name, module, before, frame;
    struct head head;

    (void)is_whole;
    do
        line = cn_line_take(&rest);
    while (rest.len > 0 && (line.len == 0 || line.ptr[0] == '#'));
    if (!read_head(line, &head)) {
        if (split_brief(line, &before, &frame))
            return read_frame(frame, &name, &module);
        return split_brief(cn_line_take(&rest), &before, &frame) && is_chained(before);
    }
    if (read_frame(head.frame, &name, &module))
        return true;
    line = cn_line_take(&rest);
    return line.len > 0 && read_frame(line, &name, &module) &&
           (is_blank(line.ptr[0]) || module.len > 0);
}

static bool probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

static bool open_database(struct cn_database **out, const char *path,
                          struct cn_error *err)
{
    return cn_import_database(out, path, "samples of perf script", cn_perf_script_read,
                              err);
}

const struct cn_format cn_format_perf_script = {
    .name = "perf-script",
    .summary = "output of perf script: samples with call chains of each thread",
    .holds = "stacks",
    .is_file = true,
    .probe = probe,
    .open_database = open_database,
};
