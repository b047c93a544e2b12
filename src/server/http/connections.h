/* Deadlines of connections. libmicrohttpd only ends connections that are silent: one byte every
 * few seconds would keep a connection open for ever.
 *
 * A request must arrive within a total time, its head and then its body; an answer must be taken
 * within another. Of the connections whose request has not arrived, the one that has waited longest
 * is closed for a new one when there are too many: the others are left for requests.
 * Threads: any thread.
 */
#ifndef CN_SERVER_HTTP_CONNECTIONS_H
#define CN_SERVER_HTTP_CONNECTIONS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct cn_peer;

struct cn_connections {
    pthread_mutex_t lock;
    pthread_cond_t is_ended;
    pthread_t thread; /* closes connections that are late */
    bool is_running, is_ending;
    struct cn_peer *first;
    size_t arriving_count; /* connections whose request has not arrived */
    size_t arriving_max;
};

/* Start before the first connection; false without a thread. */
bool cn_connections_start(struct cn_connections *connections, size_t arriving_max);

/* End when all connections are closed. Safe when never started. */
void cn_connections_end(struct cn_connections *connections);

/* For MHD_OPTION_NOTIFY_CONNECTION; `arg` is a struct cn_connections. */
void cn_connections_notify(void *arg, struct MHD_Connection *connection, void **context,
                           enum MHD_ConnectionNotificationCode code);

/* For MHD_OPTION_UNESCAPE_CALLBACK: as the default, but notes a zero byte. */
size_t cn_connections_unescape(void *arg, struct MHD_Connection *connection, char *text);

/* The next event of a connection: the head of a request, its end, the end of its answer. */
enum cn_connection_event { CN_CONNECTION_HEAD, CN_CONNECTION_WHOLE, CN_CONNECTION_NEXT };
void cn_connections_note(struct cn_connections *connections,
                         struct MHD_Connection *connection,
                         enum cn_connection_event event);

/* For MHD_OPTION_URI_LOG_CALLBACK: notes where the address of a request ends. */
void *cn_connections_address(void *arg, const char *address,
                             struct MHD_Connection *connection);

/* True if there is more between the address and the version of HTTP than the space. */
bool cn_connection_hides_address(struct MHD_Connection *connection, uintptr_t version);

/* True if the address of the request contains a zero byte. */
bool cn_connection_has_zero(struct MHD_Connection *connection);

#endif
