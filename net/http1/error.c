/* net/http1/error.c: names and texts of the refusals. */
#include "net/http1/error.h"

struct row {
    const char *name, *text;
    int status;
};

/* Row n is for the error -n. */
static const struct row rows[] = { { "none", "no error", 200 },
#define X(error, value, code, label, sentence)                                 \
    [-(value)] = { label, sentence, code },
                                   HTTP1_ERRORS(X)
#undef X
};

static const struct row *row_of(int rc)
{
    int n = (int)(sizeof rows / sizeof rows[0]);

    return rc < 0 && rc > -n ? &rows[-rc] : &rows[0];
}

const char *http1_error_name(int rc)
{
    return row_of(rc)->name;
}

const char *http1_error_text(int rc)
{
    return row_of(rc)->text;
}

int http1_error_status(int rc)
{
    return row_of(rc)->status;
}
