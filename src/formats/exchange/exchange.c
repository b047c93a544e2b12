#include "formats/exchange/exchange.h"

const struct cn_format *const cn_dump_formats[] = {
    &cn_dump_chrome, &cn_dump_flame_graph, &cn_dump_graphviz, &cn_dump_mermaid, NULL,
};
