/* The position of something in a text, for messages. */
#ifndef BIDE_BASE_MARK_H
#define BIDE_BASE_MARK_H

/* From one character up to another. Lines are those of bide__line_break().
 * Threads: immutable. */
struct bide__mark {
    unsigned line, column; /* from 1; columns in characters */
    unsigned end_line, end_column;
};

#endif
