/* The part of a line of cairn replay after the fields; for replay_print.c only.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_REPLAY_LINE_H
#define CN_CLI_RECORDING_REPLAY_LINE_H

struct cn_replay_line;
struct cn_replay_printer;

/* Append "main() {", "} = 0;" or a comment, without indentation. */
void cn_replay_add_line(struct cn_replay_printer *printer,
                        const struct cn_replay_line *line);

/* Append "[3] ==> 21080/0: ip (main), time (1234)". */
void cn_replay_add_flat(struct cn_replay_printer *printer,
                        const struct cn_replay_line *line);

#endif
