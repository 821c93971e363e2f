/* A ring of notes. */
#include "queue/sqs/notes.h"

#include <stdlib.h>
#include <string.h>

static void id_of(const struct sq_hand *h, char *to, size_t size)
{
    sq_copy(sq_member(sq_hand_value(h), "MessageId"), to, size);
}

struct sq_note *sq_note_find(struct sqs_broker *q, const struct sq_hand *h)
{
    char id[sizeof q->notes->message_id];

    if (!q->notes || !h->in_place)
        return NULL;
    id_of(h, id, sizeof id);
    for (size_t i = 0; i < SQ_NOTES; i++)
        if (*id && strcmp(q->notes[i].message_id, id) == 0)
            return &q->notes[i];
    return NULL;
}

struct sq_note *sq_note_of(struct sqs_broker *q, const struct sq_hand *h)
{
    struct sq_note *n = sq_note_find(q, h);

    if (n)
        return n;
    if (!q->notes && !(q->notes = calloc(SQ_NOTES, sizeof *q->notes)))
        return NULL;
    n = &q->notes[q->next_note++ % SQ_NOTES];
    sq_note_drop(n);
    id_of(h, n->message_id, sizeof n->message_id);
    return n;
}

void sq_note_drop(struct sq_note *n)
{
    free(n->errors);
    *n = (struct sq_note){ .errors = NULL };
}

void sq_notes_done(struct sqs_broker *q)
{
    for (size_t i = 0; q->notes && i < SQ_NOTES; i++)
        sq_note_drop(&q->notes[i]);
    free(q->notes);
}
