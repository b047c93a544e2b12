/* Any bytes as the symbols of a kernel, as they are and compressed: what is found is in the list. */

#include <assert.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/meas/code/kernel_symbols.h"
#include "support/fuzz.h"

static void read_symbols(struct cn_bytes file)
{
    struct cn_hpc_kernel_symbols symbols = {0};
    struct cn_hpc_tables tables = {0};
    struct cn_error err = {0};

    if (!cn_hpc_kernel_symbols_read(&symbols, file, &err))
        assert(err.text[0] != '\0');
    for (size_t i = 0; i < symbols.symbols.count && i < 100; i++) {
        uint64_t address = symbols.symbols.list[i].address;
        uint32_t function = cn_hpc_kernel_symbols_find(&symbols, address, 0, &tables);

        assert(function < tables.function_count);
        assert(tables.functions[function].offset == address);
    }
    cn_hpc_kernel_symbols_done(&symbols);
    cn_hpc_tables_done(&tables);
}

static uint8_t *compress(struct cn_bytes plain, size_t *len)
{
    size_t room = lzma_stream_buffer_bound(plain.len);
    uint8_t *out = cn_alloc(room, 1);

    *len = 0;
    if (lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, plain.ptr, plain.len, out, len,
                                room) != LZMA_OK)
        abort();
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    size_t packed_len;
    uint8_t *packed = compress(bytes, &packed_len);

    read_symbols(bytes);
    read_symbols((struct cn_bytes){packed, packed_len});
    free(packed);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char text[] = "ffffffff81000000 T first\n"
                               "ffffffff81000000 t same place\n"
                               "ffffffff81000200 t second\t[driver]\n"
                               "ffffffff81000100 D data\n"
                               "not a symbol\n"
                               "ffffffff81000300 T last";
    struct cn_bytes bytes = {(const uint8_t *)text, strlen(text)};
    size_t packed_len;
    uint8_t *packed = compress(bytes, &packed_len);

    emit(bytes.ptr, bytes.len);
    emit(packed, packed_len);
    free(packed);
}
