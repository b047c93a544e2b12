#include "store/segment/java_wal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"

enum {
    WAL_LEN = 4 << 20,
    ID_DIGITS_MAX = 6,
    FIRST_DIGIT = '0',
    MARK_ID = 1,
    MARK_TEXT = 2,
    MARK_END = 3,
    ESCAPE = 0xff,
    ESCAPED = 4, /* added to an escaped byte */
};

struct cn_java_wal {
    const struct cn_disk *io;
    char *dir;
    int fd; /* -1: none yet */
    uint64_t len;
};

void cn_java_wal_free(struct cn_java_wal *wal)
{
    if (!wal)
        return;
    if (wal->fd >= 0)
        (void)wal->io->close(wal->io->arg, wal->fd);
    free(wal->dir);
    free(wal);
}

/* Base-64 digits, the highest first. */
static void add_id(struct cn_text *out, uint32_t id)
{
    char digits[ID_DIGITS_MAX];
    size_t count = 0;

    do {
        digits[count++] = (char)(FIRST_DIGIT + (id & 63));
        id >>= 6;
    } while (id != 0);
    while (count > 0)
        cn_text_char(out, digits[--count]);
}

static void add_escaped(struct cn_text *out, struct cn_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t byte = bytes.ptr[i];

        if (byte < ESCAPED || byte == ESCAPE) {
            cn_text_char(out, (char)ESCAPE);
            byte = byte == ESCAPE ? ESCAPED + ESCAPED : (uint8_t)(byte + ESCAPED);
        }
        cn_text_char(out, (char)byte);
    }
}

/* Composite words begin and end with the byte of their kind, which also separates the parts. */
static void add_word_text(struct cn_text *out, const struct cn_words *words, uint32_t id)
{
    enum cn_word_kind kind = cn_word_kind(words, id);
    size_t count = cn_word_part_count(words, id);

    if (kind == CN_WORD_TEXT) {
        add_escaped(out, cn_word_bytes(words, id));
        return;
    }
    cn_text_char(out, (char)kind);
    if (count == 0 && kind != CN_WORD_STACK)
        add_escaped(out, cn_word_bytes(words, id));
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            cn_text_char(out, (char)kind);
        add_id(out, cn_word_part(words, id, i));
    }
    if (kind == CN_WORD_FRAME || kind == CN_WORD_VALUE)
        cn_text_char(out, (char)kind);
    if (kind == CN_WORD_FRAME)
        add_id(out, cn_word_line(words, id) < 0 ? 0 : (uint32_t)cn_word_line(words, id));
    if (kind == CN_WORD_VALUE)
        add_escaped(out, cn_word_value_text(words, id));
    cn_text_char(out, (char)kind);
}

static void add_record(struct cn_text *out, const struct cn_words *words, uint32_t id)
{
    add_id(out, id);
    cn_text_char(out, MARK_ID);
    add_word_text(out, words, id);
    cn_text_char(out, MARK_TEXT);
    add_id(out, id);
    cn_text_char(out, MARK_END);
}

static bool flush(struct cn_java_wal *wal, struct cn_text *text, struct cn_error *err)
{
    if (text->len == 0)
        return true;
    if (!wal->io->write(wal->io->arg, wal->fd, wal->len, cn_text_str(text), text->len,
                        err) ||
        !wal->io->sync(wal->io->arg, wal->fd, err))
        return false;
    wal->len += text->len;
    cn_text_clear(text);
    return true;
}

/* Start the file whose first word is `id`. */
static bool begin_file(struct cn_java_wal *wal, uint32_t id, struct cn_error *err)
{
    static const char magic[] = {'W', 'A', 'L', MARK_END};

    if (wal->fd >= 0)
        (void)wal->io->close(wal->io->arg, wal->fd);
    wal->fd = -1;
    char *path = cn_strprintf("%s/text-%08x.wal", wal->dir, id);
    bool ok = wal->io->open(wal->io->arg, path, &wal->fd, err);
    free(path);
    if (!ok)
        return false;
    wal->len = sizeof(magic);
    return wal->io->truncate(wal->io->arg, wal->fd, 0, err) &&
           wal->io->truncate(wal->io->arg, wal->fd, WAL_LEN, err) &&
           wal->io->write(wal->io->arg, wal->fd, 0, magic, sizeof(magic), err);
}

static bool add_words(struct cn_java_wal *wal, const struct cn_words *words,
                      uint32_t first, struct cn_text *text, struct cn_error *err)
{
    for (uint32_t id = first; id <= words->count; id++) {
        size_t before = text->len;

        if (cn_word_kind(words, id) == CN_WORD_LOST)
            continue;
        add_record(text, words, id);
        /* A zero must follow the last record. A word that is longer than a file makes its file
         * longer. */
        if (wal->fd >= 0 && wal->len + text->len < WAL_LEN)
            continue;
        text->len = before;
        if ((wal->fd >= 0 && !flush(wal, text, err)) || !begin_file(wal, id, err))
            return false;
        add_record(text, words, id);
    }
    return flush(wal, text, err);
}

bool cn_java_wal_add(struct cn_java_wal *wal, const struct cn_words *words,
                     uint32_t first, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = add_words(wal, words, first, &text, err);

    cn_text_done(&text);
    return ok;
}

bool cn_java_wal_open(struct cn_java_wal **out, const char *dir,
                      const struct cn_words *words, const struct cn_disk *io,
                      struct cn_error *err)
{
    struct cn_java_wal *wal = cn_alloc(1, sizeof(*wal));

    wal->io = io;
    wal->dir = cn_strdup(dir);
    wal->fd = -1;
    if (words->count > 0 && !cn_java_wal_add(wal, words, 1, err)) {
        cn_java_wal_free(wal);
        return false;
    }
    *out = wal;
    return true;
}
