/* One message of the OpenTelemetry protocol, as protobuf or as JSON, written by
 * the same calls: each names its field both ways.
 *
 *     struct bide__otlp w = { .out = &out, .json = false };
 *     bide__otlp_begin(&w);
 *     bide__otlp_list(&w, "spans");
 *     bide__otlp_message(&w, 2, NULL);          // an element: field 2, no name
 *     bide__otlp_text(&w, 5, "name", "GET /");
 *     bide__otlp_fixed64(&w, 7, "startTimeUnixNano", t);
 *     bide__otlp_end(&w);                       // of the message
 *     bide__otlp_end(&w);                       // of the list
 *     bide__otlp_finish(&w);
 *
 * In protobuf a list is just its elements, and a nested message is written
 * first and its length inserted before it when it ends: messages are small, and
 * moving one by a byte or two is cheaper than computing its length beforehand.
 * JSON follows the protocol's own rules: 64-bit numbers are strings, ids are
 * hexadecimal, enums are numbers. Zeros are left out, as in proto3, unless
 * stated otherwise. */
#ifndef BIDE_OBSERVE_EXPORT_OTLP_WRITER_H
#define BIDE_OBSERVE_EXPORT_OTLP_WRITER_H

#include "base/json.h"
#include "base/out.h"

enum { BIDE__OTLP_DEPTH = 16 };

/* Threads: owned. */
struct bide__otlp {
    struct bide__out *out;
    bool json;
    int depth;
    struct bide__otlp_level {
        size_t at; /* protobuf: where the message began */
        bool list;
    } level[BIDE__OTLP_DEPTH];
    struct bide__json j; /* JSON: begun by bide__otlp_begin() */
};

void bide__otlp_begin(struct bide__otlp *w);
void bide__otlp_finish(struct bide__otlp *w);

/* JSON: instead of both, for an element of a list that is assembled later; all
 * but the first begin with a comma. */
void bide__otlp_element(struct bide__otlp *w, bool first);

/* Nested; each to be ended. */
void bide__otlp_list(struct bide__otlp *w, const char *name);
void bide__otlp_message(struct bide__otlp *w, unsigned field, const char *name);
void bide__otlp_end(struct bide__otlp *w);

/* Protobuf: begins a message whose length is known, and returns how many bytes
 * that takes. */
void bide__otlp_lengths(struct bide__otlp *w, unsigned field, size_t len);
size_t bide__otlp_length_len(unsigned field, size_t len);

/* Values. A `name` of NULL is an element of a list. */
void bide__otlp_text(struct bide__otlp *w, unsigned field, const char *name,
                     const char *text);
void bide__otlp_id(struct bide__otlp *w, unsigned field, const char *name,
                   const uint8_t *bytes, size_t len);
void bide__otlp_enum(struct bide__otlp *w, unsigned field, const char *name,
                     unsigned value);
void bide__otlp_fixed64(struct bide__otlp *w, unsigned field, const char *name,
                        uint64_t value);

/* These are written even if they are zero. */
void bide__otlp_flag(struct bide__otlp *w, unsigned field, const char *name,
                     bool value);
void bide__otlp_int64(struct bide__otlp *w, unsigned field, const char *name,
                      int64_t value);
void bide__otlp_double(struct bide__otlp *w, unsigned field, const char *name,
                       double value);
void bide__otlp_sfixed64(struct bide__otlp *w, unsigned field, const char *name,
                         int64_t value);

/* Packed lists of numbers. */
void bide__otlp_counts(struct bide__otlp *w, unsigned field, const char *name,
                       const uint64_t *values, size_t n);
void bide__otlp_doubles(struct bide__otlp *w, unsigned field, const char *name,
                        const double *values, size_t n);

/* The constant name of an attribute, and its length. */
#define BIDE__KEY(name) name, sizeof name - 1

/* A KeyValue, an element of a list of attributes. */
void bide__otlp_attribute(struct bide__otlp *w, unsigned field, const char *key,
                          size_t key_len, const char *text);
void bide__otlp_attribute_int(struct bide__otlp *w, unsigned field,
                              const char *key, size_t key_len, int64_t value);
void bide__otlp_attribute_flag(struct bide__otlp *w, unsigned field,
                               const char *key, size_t key_len, bool value);
void bide__otlp_attribute_double(struct bide__otlp *w, unsigned field,
                                 const char *key, size_t key_len, double value);

#endif
