/* bide for C++: RAII, std::chrono, exceptions and lambdas (bide/bide.hpp). */
#include <bide/bide.hpp>
#include <iostream>

using namespace std::chrono_literals;

int main()
{
    try {
        bide::policy p;
        p.attempts = 5;
        p.backoff.base_ns = bide::ns(1ms);
        bide::dependency flaky("flaky", p);

        int n = 0;
        auto result = bide::run(
            flaky, bide::options().idempotent().deadline(10s), [&] {
                std::cout << "attempt " << ++n << '\n';
                if (n < 3)
                    throw bide::retryable("not yet");
            });
        std::cout << bide::name(result.reason) << " after " << result.attempts
                  << " attempts\n";
        return result ? 0 : 1;
    } catch (const std::exception &e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
