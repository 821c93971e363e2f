/* Attributes: KeyValue { key = 1, value = 2 }, and the AnyValue in it. */
#include "otlp_writer.h"

enum { ANY_STRING = 1, ANY_BOOL = 2, ANY_INT = 3, ANY_DOUBLE = 4 };

static void open_attribute(struct bide__otlp *w, unsigned field,
                           const char *key)
{
    bide__otlp_message(w, field, NULL);
    bide__otlp_text(w, 1, "key", key);
    bide__otlp_message(w, 2, "value");
}

static void close_attribute(struct bide__otlp *w)
{
    bide__otlp_end(w);
    bide__otlp_end(w);
}

void bide__otlp_attribute(struct bide__otlp *w, unsigned field, const char *key,
                          const char *text)
{
    open_attribute(w, field, key);
    bide__otlp_text(w, ANY_STRING, "stringValue", text);
    close_attribute(w);
}

void bide__otlp_attribute_int(struct bide__otlp *w, unsigned field,
                              const char *key, int64_t value)
{
    open_attribute(w, field, key);
    bide__otlp_int64(w, ANY_INT, "intValue", value);
    close_attribute(w);
}

void bide__otlp_attribute_flag(struct bide__otlp *w, unsigned field,
                               const char *key, bool value)
{
    open_attribute(w, field, key);
    bide__otlp_flag(w, ANY_BOOL, "boolValue", value);
    close_attribute(w);
}

void bide__otlp_attribute_double(struct bide__otlp *w, unsigned field,
                                 const char *key, double value)
{
    open_attribute(w, field, key);
    bide__otlp_double(w, ANY_DOUBLE, "doubleValue", value);
    close_attribute(w);
}
