#include "formats/hpctoolkit/meas/code/kernel_symbols.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/format.h"

enum { DECODER_MEMORY_LEN = 128 << 20, FIRST_LEN = 1 << 20 };

static bool grow_text(struct cn_hpc_kernel_symbols *symbols, lzma_stream *stream,
                      size_t *capacity, struct cn_error *err)
{
    if (stream->avail_out > 0)
        return true;
    if (*capacity >= CN_HPC_SYMBOLS_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d bytes of kernel symbols",
                       CN_HPC_SYMBOLS_LEN_MAX);
    symbols->text = cn_realloc(symbols->text, *capacity * 2, 1);
    stream->next_out = (uint8_t *)symbols->text + *capacity;
    stream->avail_out = *capacity;
    *capacity *= 2;
    return true;
}

static bool decode(struct cn_hpc_kernel_symbols *symbols, lzma_stream *stream,
                   struct cn_error *err)
{
    size_t capacity = FIRST_LEN;
    lzma_ret result = LZMA_OK;

    symbols->text = cn_realloc(NULL, capacity, 1);
    stream->next_out = (uint8_t *)symbols->text;
    stream->avail_out = capacity;
    while (result == LZMA_OK) {
        if (!grow_text(symbols, stream, &capacity, err))
            return false;
        result = lzma_code(stream, LZMA_FINISH);
    }
    if (result != LZMA_STREAM_END)
        return cn_fail(err, CN_ERR_FORMAT, "kernel symbols cannot be decompressed");
    symbols->text_len = (size_t)stream->total_out;
    return true;
}

static bool decompress(struct cn_hpc_kernel_symbols *symbols, struct cn_bytes file,
                       struct cn_error *err)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    bool ok;

    if (lzma_auto_decoder(&stream, DECODER_MEMORY_LEN, 0) != LZMA_OK)
        return cn_fail(err, CN_ERR_LIMIT, "no memory to decompress kernel symbols");
    stream.next_in = file.ptr;
    stream.avail_in = file.len;
    ok = decode(symbols, &stream, err);
    lzma_end(&stream);
    return ok;
}

static bool parse_hex(const char **at, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    const char *begin = *at;

    for (; *at < end && **at != ' '; (*at)++) {
        char c = **at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;

        if (digit == 16)
            return false;
        value = value << 4 | digit;
    }
    *out = value;
    return *at > begin;
}

/* "ffffffff81000000 T name [module]"; other types than t and T are data. */
static void parse_line(struct cn_hpc_kernel_symbols *symbols, const char *line,
                       const char *end)
{
    struct cn_hpc_kernel_symbol symbol = {.function = CN_NONE};
    const char *at = line;

    if (!parse_hex(&at, end, &symbol.address) || end - at < 4 || at[0] != ' ' ||
        (at[1] != 't' && at[1] != 'T') || at[2] != ' ')
        return;
    symbol.name_off = (size_t)(at + 3 - symbols->text);
    symbols->list = cn_grow(symbols->list, symbols->count, &symbols->capacity,
                            sizeof(*symbols->list));
    symbols->list[symbols->count++] = symbol;
}

static int compare(const void *left, const void *right)
{
    const struct cn_hpc_kernel_symbol *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->name_off > b->name_off) - (a->name_off < b->name_off);
}

static void sort(struct cn_hpc_kernel_symbols *symbols)
{
    size_t kept = 0;

    if (symbols->count > 0)
        qsort(symbols->list, symbols->count, sizeof(*symbols->list), compare);
    for (size_t i = 0; i < symbols->count; i++)
        if (kept == 0 || symbols->list[kept - 1].address != symbols->list[i].address)
            symbols->list[kept++] = symbols->list[i];
    symbols->count = kept;
}

bool cn_hpc_kernel_symbols_read(struct cn_hpc_kernel_symbols *symbols,
                                struct cn_bytes file, struct cn_error *err)
{
    const char *at, *end;

    if (!decompress(symbols, file, err))
        return false;
    at = symbols->text;
    end = at + symbols->text_len;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));

        if (!line_end)
            line_end = end;
        parse_line(symbols, at, line_end);
        at = line_end + 1;
    }
    sort(symbols);
    return true;
}

static uint32_t add_function(const struct cn_hpc_kernel_symbols *symbols,
                             const struct cn_hpc_kernel_symbol *symbol, uint32_t module,
                             struct cn_hpc_tables *tables)
{
    const char *name = symbols->text + symbol->name_off;
    const char *end = symbols->text + symbols->text_len;
    struct cn_text text = {0};
    uint32_t number;

    for (const char *at = name; at < end && *at != '\n'; at++)
        cn_text_char(&text, *at == '\t' ? ' ' : *at);
    cn_text_str_add(&text, " [vmlinux]");
    number = cn_hpc_tables_add_function(tables,
                                        (struct cn_function){.name = cn_text_str(&text),
                                                             .module = module,
                                                             .offset = symbol->address,
                                                             .file = CN_NONE});
    cn_text_done(&text);
    return number;
}

uint32_t cn_hpc_kernel_symbols_find(struct cn_hpc_kernel_symbols *symbols,
                                    uint64_t address, uint32_t module,
                                    struct cn_hpc_tables *tables)
{
    size_t begin = 0, end = symbols->count;
    struct cn_hpc_kernel_symbol *symbol;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (symbols->list[middle].address <= address)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == 0)
        return CN_NONE;
    symbol = &symbols->list[begin - 1];
    if (symbol->function == CN_NONE)
        symbol->function = add_function(symbols, symbol, module, tables);
    return symbol->function;
}

void cn_hpc_kernel_symbols_done(struct cn_hpc_kernel_symbols *symbols)
{
    free(symbols->text);
    free(symbols->list);
    *symbols = (struct cn_hpc_kernel_symbols){0};
}
