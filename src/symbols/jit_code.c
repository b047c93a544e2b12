#include "symbols/jit_code.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/text.h"
#include "symbols/jitdump_format.h"

enum {
    PAGE_SHIFT = 12,
    FUNCTION_PAGES_MAX = 1 << 12, /* longer ones are not functions */
    LINKS_MAX = 1 << 22,
    SEARCHED_MAX = 1 << 12, /* functions of a page, the newest first */
    NAME_MAX_LEN = 1 << 12,
    READ_LEN = 1 << 16,
};

#define FILE_MAX (UINT64_C(1) << 28)

/* A function of a page, and the one added before it; numbers count from 1. */
struct cn_jit_link {
    uint32_t function, older;
};

static const char *intern(struct cn_jit_code *code, const char *text, size_t len)
{
    char *copy =
        cn_arena_copy(&code->arena, text, len < NAME_MAX_LEN ? len : NAME_MAX_LEN);
    uint32_t at = cn_names_add(&code->names, copy);

    return code->names.list[at];
}

static bool parse_decimal(const char *text, size_t len, uint32_t *out)
{
    uint64_t value = 0;

    if (len == 0 || len > 9)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    *out = (uint32_t)value;
    return true;
}

/* The length of `text` before its last ':', and the number after that. */
static bool cut_number(const char *text, size_t *len, uint32_t *out)
{
    const char *colon = memrchr(text, ':', *len);
    size_t before = colon ? (size_t)(colon - text) : 0;

    if (!colon || !parse_decimal(colon + 1, *len - before - 1, out))
        return false;
    *len = before;
    return true;
}

/* "JS:*fib /a/b.js:1:13": the sign after the colon is the tier of the compiler. */
static bool split_javascript(struct cn_jit_code *code, const char *name, size_t len,
                             struct cn_jit_function *out)
{
    static const char *const kinds[] = {
        "JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
    const char *space = memrchr(name, ' ', len);
    size_t kind_len = 0, file_len;
    uint32_t line, column;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && kind_len == 0; i++)
        if (len > strlen(kinds[i]) && strncmp(name, kinds[i], strlen(kinds[i])) == 0)
            kind_len = strlen(kinds[i]);
    if (kind_len == 0 || !space || (size_t)(space - name) < kind_len)
        return false;
    file_len = len - (size_t)(space + 1 - name);
    if (!cut_number(space + 1, &file_len, &column) ||
        !cut_number(space + 1, &file_len, &line))
        return false;
    if (strchr("~^+*", name[kind_len]))
        kind_len++;
    out->name = space > name + kind_len
                    ? intern(code, name + kind_len, (size_t)(space - name) - kind_len)
                    : "(anonymous)";
    out->language = CN_JIT_JAVASCRIPT;
    out->file = intern(code, space + 1, file_len);
    out->line = line;
    return true;
}

/* "py::fib:/a/b.py". */
static bool split_python(struct cn_jit_code *code, const char *name, size_t len,
                         struct cn_jit_function *out)
{
    static const char prefix[] = "py::";
    size_t begin = sizeof(prefix) - 1;
    const char *colon = len > begin && strncmp(name, prefix, begin) == 0
                            ? memchr(name + begin, ':', len - begin)
                            : NULL;

    if (!colon)
        return false;
    out->name = intern(code, name + begin, (size_t)(colon - name) - begin);
    out->language = CN_JIT_PYTHON;
    out->file = intern(code, colon + 1, len - (size_t)(colon + 1 - name));
    return true;
}

static void add(struct cn_jit_code *code, struct cn_jit_function function)
{
    uint64_t page, last;

    if (function.begin >= function.end || code->count >= LINKS_MAX)
        return;
    page = function.begin >> PAGE_SHIFT;
    last = (function.end - 1) >> PAGE_SHIFT;
    if (last - page >= FUNCTION_PAGES_MAX ||
        code->link_count + (last - page) >= LINKS_MAX)
        return;
    CN_PUSH(code->list, code->count, code->capacity, function);
    for (; page <= last; page++) {
        uint32_t *newest = cn_map_at(&code->newest, page, 0);

        CN_PUSH(code->links, code->link_count, code->link_capacity,
                (struct cn_jit_link){(uint32_t)code->count, *newest});
        *newest = (uint32_t)code->link_count;
    }
}

void cn_jit_code_name(struct cn_jit_code *code, const char *name, size_t len,
                      struct cn_jit_function *out)
{
    out->file = "";
    if (split_javascript(code, name, len, out) || split_python(code, name, len, out))
        return;
    out->name = intern(code, name, len);
    out->language = CN_JIT_CODE;
}

/* A hexadecimal number and the spaces after it. */
static bool take_hex(const char **at, const char *end, uint64_t *out)
{
    const char *from = *at;
    uint64_t value = 0;

    if (end - from > 2 && from[0] == '0' && (from[1] | 0x20) == 'x')
        from += 2;
    for (*at = from; *at < end && *at - from < 16; (*at)++) {
        int c = **at | 0x20;

        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            break;
    }
    if (*at == from || *at == end || **at != ' ')
        return false;
    while (*at < end && **at == ' ')
        (*at)++;
    *out = value;
    return true;
}

void cn_jit_code_read_map(struct cn_jit_code *code, struct cn_bytes text)
{
    const char *at = (const char *)text.ptr, *end = at + text.len;

    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        struct cn_jit_function function = {0};
        uint64_t len;

        if (!line_end)
            line_end = end;
        if (take_hex(&at, line_end, &function.begin) && take_hex(&at, line_end, &len) &&
            at < line_end && cn_u64_add(function.begin, len, &function.end)) {
            cn_jit_code_name(code, at, (size_t)(line_end - at), &function);
            add(code, function);
        }
        at = line_end < end ? line_end + 1 : end;
    }
}

/* Lines of the code whose load follows. */
struct jit_lines {
    uint64_t address;
    struct cn_jit_line *list;
    uint32_t count;
};

/* Node 20 writes bytes of other objects instead of the paths of some scripts. */
static bool is_path(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            return false;
    return true;
}

static void read_lines(struct cn_jit_code *code, struct cn_bytes record,
                       struct jit_lines *out)
{
    struct cn_jitdump_debug debug;
    const char *file = "";
    size_t count = 0, capacity = 0;
    struct cn_bytes rest;

    free(out->list);
    *out = (struct jit_lines){0};
    if (!cn_jitdump_debug_decode(record, &debug) ||
        !cn_bytes_from(record, cn_jitdump_debug_size, &rest))
        return;
    out->address = debug.address;
    for (uint64_t i = 0; i < debug.count && count < UINT32_MAX; i++) {
        struct cn_jitdump_line line;
        const char *name = cn_bytes_string(rest, cn_jitdump_line_size);
        struct cn_bytes skipped;

        if (!name || !cn_jitdump_line_decode(rest, &line) ||
            !cn_bytes_take(&rest, cn_jitdump_line_size + strlen(name) + 1, &skipped))
            break;
        if (!is_path(name)) {
            count = 0;
            break;
        }
        if (strcmp(name, CN_JITDUMP_SAME_FILE) != 0)
            file = intern(code, name, strlen(name));
        /* Lines are searched by address. */
        if (line.address < debug.address ||
            (count > 0 && line.address - debug.address < out->list[count - 1].offset))
            continue;
        CN_PUSH(out->list, count, capacity,
                (struct cn_jit_line){line.address - debug.address, file, line.line});
    }
    out->count = (uint32_t)count;
}

/* V8 writes addresses of lines as if the code followed the header of an ELF file. */
static void set_lines(struct cn_jit_code *code, const struct jit_lines *lines,
                      struct cn_jit_function *function)
{
    uint64_t header_len = strcmp(function->language, CN_JIT_JAVASCRIPT) == 0 ? 64 : 0;
    struct cn_jit_line *copy = cn_arena_alloc(&code->arena, lines->count, sizeof(*copy));

    for (uint32_t i = 0; i < lines->count; i++) {
        copy[i] = lines->list[i];
        copy[i].offset -= copy[i].offset < header_len ? copy[i].offset : header_len;
    }
    function->lines = copy;
    function->line_count = lines->count;
}

static void read_load(struct cn_jit_code *code, struct cn_bytes record, uint64_t time_ns,
                      struct jit_lines *lines)
{
    struct cn_jitdump_load load;
    const char *name = cn_bytes_string(record, cn_jitdump_load_size);
    struct cn_jit_function function = {.time_ns = time_ns};

    if (!name || !cn_jitdump_load_decode(record, &load) ||
        !cn_u64_add(load.address, load.len, &function.end))
        return;
    function.begin = load.address;
    function.number = load.number;
    cn_jit_code_name(code, name, strlen(name), &function);
    if (lines->count > 0 && lines->address == load.address)
        set_lines(code, lines, &function);
    lines->count = 0;
    add(code, function);
}

/* Code that was moved is a function of its own. */
static void read_move(struct cn_jit_code *code, struct cn_bytes record, uint64_t time_ns,
                      const struct cn_map *by_number)
{
    struct cn_jitdump_move move;
    struct cn_jit_function function;

    if (!cn_jitdump_move_decode(record, &move))
        return;
    uint32_t at = cn_map_find(by_number, move.number, UINT32_MAX);
    if (at >= code->count)
        return;
    function = code->list[at];
    function.begin = move.address;
    function.time_ns = time_ns;
    if (cn_u64_add(move.address, move.len, &function.end))
        add(code, function);
}

static bool read_records(struct cn_jit_code *code, struct cn_bytes rest, bool has_times,
                         struct cn_error *err)
{
    struct cn_map by_number = {0};
    struct jit_lines lines = {0};
    struct cn_jitdump_head head;
    struct cn_bytes record;
    bool ok = true;

    while (ok && rest.len > 0 && cn_jitdump_head_decode(rest, &head)) {
        size_t known = code->count;
        uint64_t time_ns = has_times ? head.time_ns : 0;

        ok =
            head.size >= cn_jitdump_head_size && cn_bytes_take(&rest, head.size, &record);
        if (!ok)
            (void)cn_fail(err, CN_ERR_FORMAT, "a record of %" PRIu32 " bytes in %zu",
                          head.size, rest.len);
        else if (head.type == CN_JITDUMP_CODE_LOAD)
            read_load(code, record, time_ns, &lines);
        else if (head.type == CN_JITDUMP_CODE_MOVE)
            read_move(code, record, time_ns, &by_number);
        else if (head.type == CN_JITDUMP_DEBUG_INFO)
            read_lines(code, record, &lines);
        else if (head.type == CN_JITDUMP_CODE_CLOSE)
            break;
        if (code->count > known)
            *cn_map_at(&by_number, code->list[known].number, 0) = (uint32_t)known;
    }
    free(lines.list);
    cn_map_done(&by_number);
    return ok;
}

bool cn_jit_code_read_dump(struct cn_jit_code *code, struct cn_bytes bytes,
                           struct cn_error *err)
{
    struct cn_jitdump_header header;
    struct cn_bytes rest;

    if (!cn_jitdump_header_decode(bytes, &header) || header.magic != CN_JITDUMP_MAGIC ||
        header.size < cn_jitdump_header_size || !cn_bytes_from(bytes, header.size, &rest))
        return cn_fail(err, CN_ERR_FORMAT, "not a jitdump of this byte order");
    if (header.version != 1)
        return cn_fail(err, CN_ERR_VERSION, "jitdump version %" PRIu32 "; 1 is supported",
                       header.version);
    return read_records(code, rest, !(header.flags & CN_JITDUMP_FLAG_CYCLES), err);
}

/* A running program may append to the file, so it is read, not mapped. */
static bool read_file(const char *path, struct cn_text *out, struct cn_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    ssize_t got;
    bool ok;

    if (fd < 0)
        return errno == ENOENT ? cn_fail(err, CN_ERR_NOT_FOUND, "%s does not exist", path)
                               : cn_fail_errno(err, "%s", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        ok = cn_fail(err, CN_ERR_IO, "%s is not a file", path);
    else if (st.st_uid != 0 && st.st_uid != geteuid())
        ok = cn_fail(
            err, CN_ERR_IO,
            "%s belongs to user %u, so its names are not used; copy it as yourself", path,
            (unsigned)st.st_uid);
    else if ((uint64_t)st.st_size > FILE_MAX)
        ok =
            cn_fail(err, CN_ERR_LIMIT, "%s: more than %" PRIu64 " bytes", path, FILE_MAX);
    else
        ok = true;
    while (ok && out->len <= FILE_MAX &&
           (got = read(fd, cn_text_room(out, READ_LEN), READ_LEN)) > 0)
        cn_text_advance(out, (size_t)got);
    (void)close(fd);
    return ok;
}

bool cn_jit_code_open(struct cn_jit_code *code, const char *path, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = read_file(path, &text, err);
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(&text), text.len};

    if (ok && bytes.len >= 4 && cn_u32_get(bytes.ptr) == CN_JITDUMP_MAGIC)
        ok = cn_jit_code_read_dump(code, bytes, err) || cn_fail_in(err, "%s", path);
    else if (ok)
        cn_jit_code_read_map(code, bytes);
    cn_text_done(&text);
    return ok;
}

const struct cn_jit_function *cn_jit_code_find(const struct cn_jit_code *code,
                                               uint64_t address, uint64_t time_ns)
{
    uint32_t link = cn_map_find(&code->newest, address >> PAGE_SHIFT, 0);

    for (size_t i = 0; link > 0 && i < SEARCHED_MAX; i++) {
        const struct cn_jit_function *function =
            &code->list[code->links[link - 1].function - 1];

        if (address >= function->begin && address < function->end &&
            function->time_ns <= time_ns)
            return function;
        link = code->links[link - 1].older;
    }
    return NULL;
}

const struct cn_jit_line *cn_jit_function_line(const struct cn_jit_function *function,
                                               uint64_t address)
{
    if (function->line_count == 0)
        return NULL;
    size_t i = cn_search_u64(&function->lines->offset, function->line_count,
                             sizeof(*function->lines), address - function->begin);
    return i > 0 ? &function->lines[i - 1] : NULL;
}

void cn_jit_code_done(struct cn_jit_code *code)
{
    cn_arena_done(&code->arena);
    cn_names_done(&code->names);
    cn_map_done(&code->newest);
    free(code->list);
    free(code->links);
    *code = (struct cn_jit_code){0};
}
