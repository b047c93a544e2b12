/* What is known about a trace of a store, found without any index: by reading it.
 *
 * Texts belong to the facts and are released with them.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_TRACE_FACTS_H
#define CN_TEST_TRACE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/segment/reader.h"

enum { CN_TRACE_TEXTS_MAX = 64 };

struct cn_trace_facts {
    uint32_t segment, row;
    struct cn_store_row data;
    char *type, *service, *root;
    char *methods[CN_TRACE_TEXTS_MAX], *classes[CN_TRACE_TEXTS_MAX];
    size_t method_count;
    struct {
        char *name, *value;
        bool is_root;
    } attributes[CN_TRACE_TEXTS_MAX];
    size_t attribute_count;
    char *exception_classes[CN_TRACE_TEXTS_MAX], *exception_messages[CN_TRACE_TEXTS_MAX];
    size_t exception_count;
};

/* Read one row of one segment. Fails the test when it cannot be read. */
void cn_trace_facts_read(struct cn_trace_facts *facts, const struct cn_store *store,
                         struct cn_segment_loader *loader, uint32_t segment,
                         uint32_t row);
void cn_trace_facts_done(struct cn_trace_facts *facts);

#endif
