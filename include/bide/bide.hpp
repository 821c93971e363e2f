/* bide/bide.hpp: bide for C++17. RAII, std::chrono and lambdas over bide.h,
 * run.h and config.h; nothing of it is compiled into a library.
 *
 *   using namespace std::chrono_literals;
 *   bide::policy p;                       // every default is in bide/policy.h
 *   p.attempts = 3;
 *   p.deadline_ns = bide::ns(5s);
 *   bide::dependency db("orders", p);     // throws bide::error
 *
 *   auto result = bide::run(db, bide::options().idempotent(), [&] {
 *       connection c(url);                // an exception ends the call, and
 *       c.query("select 1");              // leaves run(); bide::retryable is
 *   });                                   // retried first
 *   if (!result)
 *       std::cerr << bide::text(result.reason) << '\n';
 *
 * Link bide-run; for bide::config bide-config as well. Errors of bide are
 * thrown; a retry that is refused is not an error, but a reason. */
#ifndef BIDE_BIDE_HPP
#define BIDE_BIDE_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bide.h"
#include "config.h"
#include "run.h"

namespace bide {

/* ===== time ===== */

/* A point on the monotonic clock: std::chrono::steady_clock's own. */
struct clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept
    {
        return time_point(duration(bide_now_ns()));
    }
};

/* Nanoseconds as bide's structures have them; saturates. */
template <class Rep, class Period>
constexpr std::int64_t ns(std::chrono::duration<Rep, Period> d) noexcept
{
    using seconds = std::chrono::duration<long double>;
    if (std::chrono::duration_cast<seconds>(d).count() >= 9.2e9L)
        return BIDE_FOREVER;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

/* ===== errors and names ===== */

/* An error of bide: code() is a BIDE_E..., what() names the field that is
 * invalid, or shows what is wrong with a file. */
class error : public std::runtime_error {
public:
    explicit error(int code)
        : std::runtime_error(bide_strerror(code)), code_(code) {}
    error(int code, const std::string &what)
        : std::runtime_error(what), code_(code) {}
    int code() const noexcept { return code_; }

private:
    int code_;
};

inline void check(int rc)
{
    if (rc < 0)
        throw error(rc);
}

inline std::string_view name(bide_reason r) { return bide_reason_name(r); }
inline std::string_view text(bide_reason r) { return bide_reason_text(r); }

/* Thrown by an attempt to be retried as the policy says; leaves run() if it was
 * the last. Its outcome is transient unless another is given. */
class retryable : public std::runtime_error {
public:
    explicit retryable(const std::string &what, bool not_processed = false)
        : std::runtime_error(what)
    {
        outcome.cls = BIDE_TRANSIENT;
        outcome.not_processed = not_processed;
    }
    retryable(const std::string &what, const bide_outcome &as)
        : std::runtime_error(what), outcome(as) {}
    bide_outcome outcome{};
};

/* ===== policies and dependencies ===== */

/* A bide_policy_conf that begins with its defaults. */
struct policy : bide_policy_conf {
    policy() : bide_policy_conf(BIDE_POLICY_CONF_INIT) {}
    explicit policy(const bide_policy_conf &conf) : bide_policy_conf(conf) {}

    static policy preset(const char *name)
    {
        policy p;
        check(bide_policy_preset(&p, name));
        return p;
    }
};

/* A dependency: see bide/dep.h. Moves, and frees what it holds. Threads:
 * shared. */
class dependency {
public:
    explicit dependency(const std::string &name,
                        const bide_policy_conf &conf = policy())
    {
        bide_dep *dep = nullptr;
        check(bide_run_dep_new(&dep, name.c_str(), &conf));
        dep_.reset(dep);
    }

    bide_dep *get() const noexcept { return dep_.get(); }
    std::string_view name() const { return bide_dep_name(get()); }
    const bide_policy_conf &conf() const { return *bide_dep_policy(get()); }

    bide_stats stats() const
    {
        bide_stats s;
        check(bide_dep_stats(get(), bide_now_ns(), &s));
        return s;
    }
    bide_breaker_state breaker() const
    {
        return bide_dep_breaker(get(), bide_now_ns());
    }
    void force_breaker(bide_breaker_mode mode)
    {
        check(bide_dep_force_breaker(get(), mode));
    }

private:
    struct free_dep {
        void operator()(bide_dep *dep) const { bide_dep_free(dep); }
    };
    std::unique_ptr<bide_dep, free_dep> dep_;
};

/* ===== policy files ===== */

/* A policy file. what() of the error it throws shows every error in it, as
 * `bide check` does. */
class config {
public:
    explicit config(const std::string &path)
    {
        notes found(bide_diagnostics_new());
        bide_config *read = nullptr;
        int rc = bide_config_read(&read, path.c_str(), found.get());
        if (rc < 0)
            throw error(rc, print(found.get()));
        config_.reset(read);
    }

    /* Without a name: `default`, or the only one. Throws BIDE_ENAME. */
    policy find(const char *name = nullptr) const
    {
        const bide_policy_conf *conf = bide_config_policy(config_.get(), name);
        if (!conf)
            throw error(BIDE_ENAME, std::string("no policy `") +
                                        (name ? name : "default") + "`");
        return policy(*conf);
    }

private:
    struct free_config {
        void operator()(bide_config *c) const { bide_config_free(c); }
    };
    struct free_notes {
        void operator()(bide_diagnostics *n) const { bide_diagnostics_free(n); }
    };
    using notes = std::unique_ptr<bide_diagnostics, free_notes>;

    static std::string print(const bide_diagnostics *notes)
    {
        std::string all;
        for (std::size_t i = 0; i < bide_diagnostics_size(notes); i++) {
            const bide_diagnostic *d = bide_diagnostics_at(notes, i);
            all += (i ? "\n" : "") + std::string(d->file) + ":" +
                   std::to_string(d->line) + ":" + std::to_string(d->column) +
                   ": " + d->message;
            if (d->help)
                all += std::string(" (") + d->help + ")";
        }
        return all.empty() ? "out of memory" : all;
    }

    std::unique_ptr<bide_config, free_config> config_;
};

/* ===== cancelling ===== */

/* Copies share one token. Cancels from any thread. */
class cancellation {
public:
    cancellation() : token_(std::make_shared<bide_cancel>()) {}
    void cancel() noexcept { bide_cancel_now(token_.get()); }
    bool cancelled() const noexcept { return bide_cancelled(token_.get()); }
    bide_cancel *get() const noexcept { return token_.get(); }

private:
    std::shared_ptr<bide_cancel> token_;
};

/* ===== running ===== */

using decision_fn = std::function<void(const bide_decision &,
                                       const bide_outcome *last)>;

/* What a call is told: bide::options().idempotent().deadline(5s). */
class options {
public:
    options &idempotent(bool yes = true) { op_.idempotent = yes; return *this; }
    options &has_key(bool yes = true) { op_.has_key = yes; return *this; }
    options &priority(std::int8_t p) { op_.priority = p; return *this; }

    /* From now on; or a point in time. */
    template <class Rep, class Period>
    options &deadline(std::chrono::duration<Rep, Period> in)
    {
        std::int64_t left = ns(in), now = bide_now_ns();
        op_.deadline_ns = left > BIDE_FOREVER - now ? BIDE_FOREVER : now + left;
        return *this;
    }
    options &deadline(clock::time_point at)
    {
        op_.deadline_ns = at.time_since_epoch().count();
        return *this;
    }

    options &cancel(cancellation token)
    {
        cancel_ = std::move(token);
        return *this;
    }
    options &on_decision(decision_fn fn)
    {
        on_decision_ = std::move(fn);
        return *this;
    }

    const bide_op &op() const { return op_; }
    bide_cancel *token() const { return cancel_ ? cancel_->get() : nullptr; }
    const decision_fn &observer() const { return on_decision_; }

private:
    bide_op op_{};
    std::optional<cancellation> cancel_;
    decision_fn on_decision_;
};

/* How a call ended: true if it succeeded. */
struct result : bide_run_result {
    result() : bide_run_result() {}
    explicit operator bool() const { return reason == BIDE_BECAUSE_SUCCESS; }
    clock::duration took() const { return clock::duration(took_ns); }
    clock::duration slept() const { return clock::duration(slept_ns); }
};

namespace detail {

/* What an attempt returns: an outcome, whether it succeeded, or nothing. */
inline bide_outcome as_outcome(const bide_outcome &out) { return out; }
inline bide_outcome as_outcome(bool ok)
{
    bide_outcome out{};
    out.cls = ok ? BIDE_SUCCESS : BIDE_TRANSIENT;
    return out;
}

/* No exception may pass through bide_run(), which is C. */
template <class Fn> struct trampoline {
    Fn &fn;
    const options &opts;
    std::exception_ptr thrown{}; /* by the last attempt */
    std::exception_ptr observed{}; /* by on_decision */

    static bide_outcome attempt(void *self, const bide_attempt *a)
    {
        auto &t = *static_cast<trampoline *>(self);
        bide_outcome out{};
        try {
            t.thrown = nullptr;
            return t.call(*a);
        } catch (const retryable &e) {
            t.thrown = std::current_exception();
            return e.outcome;
        } catch (...) {
            t.thrown = std::current_exception();
        }
        out.cls = BIDE_PERMANENT;
        out.fault = BIDE_FAULT_OTHER;
        return out;
    }

    static void decided(void *self, const bide_decision *d,
                        const bide_outcome *last, std::int64_t)
    {
        auto &t = *static_cast<trampoline *>(self);
        try {
            if (t.opts.observer())
                t.opts.observer()(*d, last);
        } catch (...) {
            t.observed = std::current_exception();
        }
    }

private:
    bide_outcome call(const bide_attempt &a)
    {
        if constexpr (std::is_invocable_v<Fn &, const bide_attempt &>)
            return value([&]() -> decltype(auto) { return fn(a); });
        else
            return value([&]() -> decltype(auto) { return fn(); });
    }

    template <class Call> static bide_outcome value(Call &&c)
    {
        if constexpr (std::is_void_v<decltype(c())>) {
            c();
            return BIDE_OUTCOME_SUCCESS;
        } else {
            return as_outcome(c());
        }
    }
};

} // namespace detail

/* Runs `fn` until it succeeds or the policy says stop, on this thread. `fn`
 * takes a const bide_attempt & or nothing, and returns a bide_outcome, a bool
 * (false: transient) or nothing. What it throws leaves run(): bide::retryable
 * only once there is no further attempt, anything else at once; but a call that
 * is cancelled ends with that reason. */
template <class Fn>
result run(const dependency &dep, const options &opts, Fn &&fn)
{
    using plain = std::remove_reference_t<Fn>;
    detail::trampoline<plain> t{ fn, opts };
    result r;
    bide_run_opts o{};
    o.op = opts.op();
    o.cancel = opts.token();
    o.result = &r;
    o.on_decision = detail::trampoline<plain>::decided;
    o.ctx = &t;
    int rc = static_cast<int>(
        bide_run(dep.get(), detail::trampoline<plain>::attempt, &t, &o));
    check(rc);
    if (t.observed)
        std::rethrow_exception(t.observed);
    if (t.thrown && r.reason != BIDE_BECAUSE_CANCELLED)
        std::rethrow_exception(t.thrown);
    return r;
}

template <class Fn> result run(const dependency &dep, Fn &&fn)
{
    return run(dep, options(), std::forward<Fn>(fn));
}

} // namespace bide

#endif
