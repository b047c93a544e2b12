/* The callbacks of libmicrohttpd, from a connection to an answer.
 * Threads: called by the threads of the server.
 */
#ifndef CN_SERVER_HTTP_ANSWER_H
#define CN_SERVER_HTTP_ANSWER_H

#include <microhttpd.h>

enum MHD_Result cn_server_answer(void *arg, struct MHD_Connection *connection,
                                 const char *url, const char *method, const char *version,
                                 const char *upload, size_t *upload_len, void **state);

/* A request has ended, answered or not. */
void cn_server_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code);

#endif
