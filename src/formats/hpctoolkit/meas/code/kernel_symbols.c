#include "formats/hpctoolkit/meas/code/kernel_symbols.h"

#include <lzma.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/meas/format.h"

enum { DECODER_MEMORY_LEN = 128 << 20, STEP_LEN = 1 << 16 };

static bool decompress(struct cn_bytes file, struct cn_text *out, struct cn_error *err)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret result = LZMA_OK;

    if (lzma_auto_decoder(&stream, DECODER_MEMORY_LEN, 0) != LZMA_OK)
        return cn_fail(err, CN_ERR_NO_MEMORY, "no memory to decompress kernel symbols");
    stream.next_in = file.ptr;
    stream.avail_in = file.len;
    while (result == LZMA_OK && out->len <= CN_HPC_SYMBOLS_LEN_MAX) {
        stream.next_out = (uint8_t *)cn_text_room(out, STEP_LEN);
        stream.avail_out = STEP_LEN;
        result = lzma_code(&stream, LZMA_FINISH);
        cn_text_advance(out, STEP_LEN - stream.avail_out);
    }
    lzma_end(&stream);
    if (result == LZMA_OK)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d bytes of kernel symbols",
                       CN_HPC_SYMBOLS_LEN_MAX);
    return result == LZMA_STREAM_END ||
           cn_fail(err, CN_ERR_FORMAT, "kernel symbols cannot be decompressed");
}

bool cn_hpc_kernel_symbols_read(struct cn_hpc_kernel_symbols *kernel,
                                struct cn_bytes file, struct cn_error *err)
{
    if (!decompress(file, &kernel->symbols.text, err))
        return false;
    cn_kernel_symbols_parse(&kernel->symbols, "tT");
    kernel->functions = cn_alloc(kernel->symbols.count, sizeof(*kernel->functions));
    return true;
}

static uint32_t add_function(const struct cn_kernel_symbols *symbols,
                             const struct cn_kernel_symbol *symbol, uint32_t module,
                             struct cn_hpc_tables *tables)
{
    struct cn_text text = {0};

    for (const char *at = symbols->text.chars + symbol->name_off; *at; at++)
        cn_text_char(&text, *at == '\t' ? ' ' : *at);
    cn_text_str_add(&text, " [vmlinux]");
    uint32_t number = cn_hpc_tables_add_function(
        tables, (struct cn_function){.name = cn_text_str(&text),
                                     .module = module,
                                     .offset = symbol->address,
                                     .file = CN_NONE});
    cn_text_done(&text);
    return number;
}

uint32_t cn_hpc_kernel_symbols_find(struct cn_hpc_kernel_symbols *kernel,
                                    uint64_t address, uint32_t module,
                                    struct cn_hpc_tables *tables)
{
    const struct cn_kernel_symbol *symbol =
        cn_kernel_symbols_find(&kernel->symbols, address);
    uint32_t *function;

    if (!symbol)
        return CN_NONE;
    function = &kernel->functions[symbol - kernel->symbols.list];
    if (*function == 0)
        *function = add_function(&kernel->symbols, symbol, module, tables) + 1;
    return *function - 1;
}

void cn_hpc_kernel_symbols_done(struct cn_hpc_kernel_symbols *kernel)
{
    cn_kernel_symbols_done(&kernel->symbols);
    free(kernel->functions);
    *kernel = (struct cn_hpc_kernel_symbols){0};
}
