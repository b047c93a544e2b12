/* From an address to the API of another trace store that has it.
 *
 * "/jaeger", "/zipkin" and "/tempo" choose an API, and may be followed by "/N", a source. Without
 * them, the address decides; /api/traces/ID, which two of them have, is Tempo's for those that accept
 * protobuf, and Jaeger's for others.
 * Threads: any thread.
 */
#ifndef CN_SERVER_COMPAT_ROUTE_H
#define CN_SERVER_COMPAT_ROUTE_H

#include <stdbool.h>

struct cn_request;
struct cn_served_list;

/* True if an address is one of them. */
bool cn_compat_is_address(const char *path);

/* Answer a request: also errors are answers. Status and Content-Type are set; the text is that of
 * request->json. */
void cn_compat_answer_request(const struct cn_served_list *sources,
                              struct cn_request *request, const char *accept,
                              unsigned *status, const char **type);

#endif
