/* An address and port that the server listens on.
 *
 *     cn_endpoint_parse(&endpoint, "--listen", "127.0.0.1:0", err)
 *     cn_endpoint_listen(&endpoint, &fd, err)          endpoint.port is that of the socket
 *
 * The caller owns the socket. A failure leaves none open.
 * Threads: any thread.
 */
#ifndef CN_SERVER_ACCESS_ENDPOINT_H
#define CN_SERVER_ACCESS_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { CN_ENDPOINT_ADDRESS_LEN = 64, CN_ENDPOINT_URL_LEN = 96 };

struct cn_endpoint {
    char address[CN_ENDPOINT_ADDRESS_LEN]; /* numeric, without brackets */
    uint16_t port;
    bool is_loopback; /* only this machine can reach it */
};

/* "ADDR:PORT" or "[ADDR]:PORT"; port 0 means any free one. `option` is for messages. */
CN_CHECK bool cn_endpoint_parse(struct cn_endpoint *endpoint, const char *option,
                                const char *text, struct cn_error *err);

/* Open a socket that listens; sets the port if it was 0. */
CN_CHECK bool cn_endpoint_listen(struct cn_endpoint *endpoint, int *fd,
                                 struct cn_error *err);

/* Use a socket that another process has opened, as systemd does. */
CN_CHECK bool cn_endpoint_adopt(struct cn_endpoint *endpoint, int fd,
                                struct cn_error *err);

/* "https://[::1]:4317". */
void cn_endpoint_print(const struct cn_endpoint *endpoint, bool with_tls,
                       char url[CN_ENDPOINT_URL_LEN]);

#endif
