#include "formats/uftrace/kernel.h"
void cn_uft_kernel_build(struct cn_uft_directory *dir){(void)dir;}
void cn_uft_kernel_free(struct cn_uft_kernel *kernel){(void)kernel;}
struct cn_uft_stream *cn_uft_kernel_stream_new(const struct cn_uft_directory *dir,
                                               const char *name, size_t i){(void)dir;(void)name;(void)i;return NULL;}
bool cn_uft_kernel_print(const struct cn_recording *rec, const struct cn_call *call,
                         struct cn_bytes data, struct cn_text *text){(void)rec;(void)call;(void)data;(void)text;return false;}
