/* bide.hpp: what RAII, chrono and lambdas come to. TAP. */
#include <bide/bide.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static int cases, failed;

static void check(bool ok, const char *name)
{
    std::cout << (ok ? "ok " : "not ok ") << ++cases << " - " << name << '\n';
    failed += !ok;
}

static bide::policy quick()
{
    bide::policy p;
    p.backoff.base_ns = bide::ns(1ms);
    p.backoff.cap_ns = bide::ns(2ms);
    p.budget.kind = BIDE_BUDGET_OFF;
    p.breaker.kind = BIDE_BREAKER_OFF;
    return p;
}

static void times()
{
    check(bide::ns(5s) == 5 * BIDE_SECOND, "ns_of_seconds");
    check(bide::ns(1.5s) == 1500 * BIDE_MILLISECOND, "ns_of_fractions");
    check(bide::ns(std::chrono::hours(24 * 365 * 1000)) == BIDE_FOREVER,
          "ns_saturates");
    auto a = bide::clock::now();
    check(bide::clock::now() >= a, "clock_is_steady");
}

static void errors()
{
    bide::policy p;
    p.attempts = 0;
    try {
        bide::dependency bad("bad", p);
        check(false, "invalid_policy_throws");
    } catch (const bide::error &e) {
        check(std::string(e.what()).find("attempts") == 0 && e.code() < 0,
              "invalid_policy_throws");
    }
    try {
        bide::policy::preset("nobody");
        check(false, "unknown_preset_throws");
    } catch (const bide::error &e) {
        check(e.code() == BIDE_ENAME, "unknown_preset_throws");
    }
    check(bide::policy::preset("grpc").attempts > 0, "preset_is_filled_in");
}

static void returns()
{
    bide::dependency dep("returns", quick());
    auto safe = bide::options().idempotent();
    int n = 0;
    auto r = bide::run(dep, safe, [&] { return ++n == 3; });
    check(r && r.attempts == 3 && n == 3, "bool_false_is_retried");
    n = 0;
    r = bide::run(dep, safe, [&](const bide_attempt &a) {
        n += static_cast<int>(a.number);
        bide_outcome out{};
        out.cls = a.number < 2 ? BIDE_THROTTLED : BIDE_SUCCESS;
        return out;
    });
    check(r && n == 3, "outcome_and_attempt");
    n = 0;
    r = bide::run(dep, [&] { n++; });
    check(r && n == 1, "void_is_success");
    n = 0;
    r = bide::run(dep, [&] { n++; return false; });
    check(!r && n == 1 && r.reason == BIDE_BECAUSE_NOT_IDEMPOTENT &&
              bide::name(r.reason) == "not_idempotent",
          "cautious_by_default");
    check(dep.stats().calls == 4 && dep.name() == "returns", "stats_and_name");
}

static void exceptions()
{
    bide::dependency dep("exceptions", quick());
    auto safe = bide::options().idempotent();
    int n = 0;
    try {
        bide::run(dep, safe, [&] { n++; throw std::logic_error("bug"); });
        check(false, "other_exception_leaves_at_once");
    } catch (const std::logic_error &e) {
        check(n == 1 && std::string(e.what()) == "bug",
              "other_exception_leaves_at_once");
    }
    n = 0;
    try {
        bide::run(dep, safe, [&] { n++; throw bide::retryable("busy"); });
        check(false, "retryable_leaves_in_the_end");
    } catch (const bide::retryable &e) {
        check(n == 4 && std::string(e.what()) == "busy",
              "retryable_leaves_in_the_end");
    }
    n = 0;
    auto r = bide::run(dep, safe, [&] {
        if (++n < 3)
            throw bide::retryable("busy");
    });
    check(r && r.attempts == 3, "retryable_is_retried");
    n = 0;
    r = bide::run(dep, [&] {
        if (++n < 3)
            throw bide::retryable("refused", true);
    });
    check(r && n == 3, "not_processed_is_retried_without_idempotence");
    try {
        bide::run(dep, bide::options().on_decision(
                           [](const bide_decision &, const bide_outcome *) {
                               throw std::runtime_error("watcher");
                           }),
                  [] {});
        check(false, "exception_of_the_observer_leaves");
    } catch (const std::runtime_error &e) {
        check(std::string(e.what()) == "watcher",
              "exception_of_the_observer_leaves");
    }
}

static void cancelling()
{
    auto p = quick();
    p.backoff.base_ns = p.backoff.cap_ns = p.backoff.floor_ns = BIDE_HOUR;
    p.deadline_ns = BIDE_FOREVER;
    bide::dependency dep("cancelling", p);
    bide::cancellation token;
    std::thread other;
    auto r = bide::run(dep, bide::options().idempotent().cancel(token), [&] {
        other = std::thread([token]() mutable { token.cancel(); });
        return false;
    });
    other.join();
    check(r.reason == BIDE_BECAUSE_CANCELLED && token.cancelled(),
          "cancel_from_a_thread_ends_an_hours_wait");
    r = bide::run(dep, bide::options().idempotent().deadline(1s),
                  [] { return false; });
    check(r.reason == BIDE_BECAUSE_DEADLINE, "deadline_counts");
}

static void moving()
{
    std::vector<bide::dependency> all;
    for (int i = 0; i < 3; i++)
        all.emplace_back("dep" + std::to_string(i), quick());
    bide::dependency last = std::move(all.back());
    all.pop_back();
    check(last.name() == "dep2" && all.size() == 2, "dependencies_move");
    last.force_breaker(BIDE_BREAKER_FORCED_OPEN);
    auto r = bide::run(last, [] {});
    check(r.reason == BIDE_BECAUSE_SUCCESS || r.attempts == 0,
          "breaker_can_be_forced");
}

static void files(const char *path)
{
    std::ofstream(path) << "version: 1\npolicies:\n  default: { attempts: 7 }\n";
    bide::config good(path);
    check(good.find().attempts == 7, "policy_file_is_read");
    try {
        good.find("other");
        check(false, "missing_policy_throws");
    } catch (const bide::error &e) {
        check(e.code() == BIDE_ENAME, "missing_policy_throws");
    }
    std::ofstream(path) << "version: 1\npolicies:\n  default: { atempts: 7 }\n";
    try {
        bide::config bad(path);
        check(false, "mistakes_in_a_file_are_shown");
    } catch (const bide::error &e) {
        std::string what = e.what();
        check(what.find(":3:") != std::string::npos &&
                  what.find("`attempts`") != std::string::npos,
              "mistakes_in_a_file_are_shown");
    }
    std::remove(path);
}

int main(int argc, char **argv)
{
    times();
    errors();
    returns();
    exceptions();
    cancelling();
    moving();
    files(argc > 1 ? argv[1] : "test_bide.yaml");
    std::cout << "1.." << cases << '\n';
    return failed != 0;
}
