/* question.c: any text as --assert and as --sweep of the simulator.
 *
 * What is refused says why, and the place lies in the text; what is accepted
 * can be judged, and set in a model. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/assert.h"
#include "sim/scenario/setting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check_fuss(const struct sim_fuss *fuss, size_t len)
{
    must(fuss->message[0] && fuss->at <= len && fuss->at + fuss->len <= len);
}

/* Verdicts are in order, and "not" turns them round. */
static void check_assert(const char *text)
{
    static const char *const names[] = { "a", "with bide" };
    static struct sim_interval figures[2 * SIM_FIGURES];
    struct sim_assert *a = NULL;
    struct sim_fuss fuss = { 0 };
    enum sim_figure f;
    uint32_t v;

    for (int i = 0; i < 2 * SIM_FIGURES; i++)
        figures[i] = (struct sim_interval){ .mean = i % 3 ? (double)i : NAN,
                                            .n = 1,
                                            .infinite = i % 5 == 0 };
    if (sim_assert_parse(&a, text, &fuss) < 0 ||
        sim_assert_bind(a, names, 2, &fuss) < 0) {
        check_fuss(&fuss, strlen(text));
        sim_assert_free(a);
        return;
    }
    for (uint32_t i = 0; i < 2; i++)
        must(sim_assert_judge(a, figures, i) <= SIM_HOLDS);
    for (uint32_t n = 0; sim_assert_figure(a, n, 1, &v, &f); n++)
        must(v < 2 && f < SIM_FIGURES);
    sim_assert_free(a);
}

static void set_all(const struct sim_axis *a)
{
    char name[] = "a";
    struct sim_model_policy policy = { name, BIDE_POLICY_CONF_INIT };
    struct sim_model_fleet fleet = { .name = name,
                                     .clients = 1,
                                     .processes = 1 };
    struct sim_model_service service = { .name = name };
    struct sim_fault fault = { .kind = SIM_SLOW };
    struct sim_model m = { .policies = &policy,
                           .fleets = &fleet,
                           .services = &service,
                           .faults = &fault,
                           .n_policies = 1,
                           .n_fleets = 1,
                           .n_services = 1,
                           .n_faults = 1 };

    for (uint32_t i = 0; i < a->n; i++) {
        const char *expected = NULL;
        enum sim_set rc = sim_setting(&m, a->key, a->values[i], &expected);
        must(rc != SIM_SET_WRONG || (expected && *expected));
    }
}

static void check_axis(const char *text)
{
    struct sim_axis a = { 0 };
    struct sim_fuss fuss = { 0 };

    if (sim_axis_parse(&a, text, &fuss) < 0) {
        check_fuss(&fuss, strlen(text));
        return;
    }
    must(a.n >= 1 && a.n <= SIM_AXIS_MOST && *a.key);
    for (uint32_t i = 0; i < a.n; i++)
        must(*a.values[i]);
    set_all(&a);
    sim_axis_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_assert(text);
    check_axis(text);
    free(text);
    return 0;
}
