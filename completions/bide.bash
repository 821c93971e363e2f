# bash completion for bide(1).
# Written by scripts/completions.py from `bide --help` and `bide COMMAND --help`: change
# the tables of flags in cmd/, or that script, and run it again.

_bide_policy_flags='--policy --preset --attempts --attempt-timeout --deadline --base --factor
    --cap --jitter --floor --nested --set --seed'

_bide_scenarios='thundering-herd flapping brown-out metastable deep-chain every-layer
    reconnect-storm rate-limited tail-latency double-charge mixed-fleet
    shard-down black-hole rolling-restart rush-hour queue-outage queue-flaky
    queue-poison'

_bide_flags() {
    case $1 in
    run)
        echo "--retry-on --stop-on --retry-if --stop-if --until --at-most-once
            --signal --kill-after --foreground --on-retry --on-failure
            --on-success --stdin --output --key --fleet --list --reset --json
            --log-file --quiet --verbose $_bide_policy_flags --help"
        ;;
    fetch)
        echo "--request --header --data --data-binary --data-raw --data-urlencode
            --get --form --form-string --upload-file --user-agent --cookie
            --cookie-jar --range --compressed --url --output --remote-name
            --remote-header-name --output-dir --create-dirs --continue-at
            --remote-time --head --include --dump-header --write-out --location
            --fail --user --netrc --proxy --proxy-user --noproxy --unix-socket
            --resolve --ipv4 --ipv6 --http1.1 --http2 --http2-prior-knowledge
            --cacert --cert --key --insecure --limit-rate --connect-timeout
            --stall-timeout --max-time --parallel-max --silent --show-error
            --verbose --explain --json --log-file --config --hedge
            --idempotency-key --tell --retry --retry-delay --retry-max-time
            --retry-connrefused $_bide_policy_flags --help"
        ;;
    proxy)
        echo "--config --check --help"
        ;;
    worker)
        echo "--config --queue --broker --create --to --at-once --until-empty
            --retry-on --stop-on --drain --kill-after --admin --fleet --otlp
            --sample --quiet --verbose --json $_bide_policy_flags --help"
        ;;
    enqueue)
        echo "--config --queue --broker --lines --id --key --delay --priority
            --attribute --quiet --help"
        ;;
    check)
        echo "--json --sarif --quiet --no-lint --capacity --load --p99 --clients
            --depth --defaults --reference --schema --help"
        ;;
    explain)
        echo "--method --status --error --sent --grpc --header --body --attempt
            --elapsed --idempotency-key --one-shot-body --upstream-attempt
            --breaker --budget-spent --now --json $_bide_policy_flags --help"
        ;;
    schedule)
        echo "--draws --after --json $_bide_policy_flags --help"
        ;;
    replay)
        echo "--json --log --calls --start --compare --html $_bide_policy_flags
            --help"
        ;;
    sim)
        echo "--list --print --variant --compare --sweep --metric --assert
            --replications --threads --duration --loads --triggers --row --json
            --csv --html --svg --quiet --no-progress --reference --schema
            $_bide_policy_flags --help"
        ;;
    store)
        echo "--config --store --scope --older-than --limit --answer --json --help"
        ;;
    top)
        echo "--once --json --interval --cacert --help"
        ;;
    demo)
        echo "--seconds --keep --json --listen --no-dashboard --open --help"
        ;;
    export)
        echo "--to --host --service --method --strict --losses $_bide_policy_flags
            --help"
        ;;
    import)
        echo "--from --strict --losses --help"
        ;;
    *) echo "--help --version" ;;
    esac
}

# The words that an option takes; "FILE" for a file, nothing if anything goes.
_bide_values() {
    case $1$2 in
    sim--print)
        echo "$_bide_scenarios"
        ;;
    run--until)
        echo "success failure"
        ;;
    run--signal | run-s)
        echo "TERM INT HUP QUIT KILL USR1 USR2"
        ;;
    run--stdin)
        echo "auto replay inherit null"
        ;;
    run--output | run-o)
        echo "all prefix last success"
        ;;
    run--log-file)
        echo FILE
        ;;
    run--attempts)
        echo "unlimited"
        ;;
    fetch--request | fetch-X)
        echo "GET HEAD OPTIONS TRACE PUT DELETE POST PATCH"
        ;;
    fetch--upload-file | fetch-T)
        echo FILE
        ;;
    fetch--cookie | fetch-b)
        echo FILE
        ;;
    fetch--cookie-jar | fetch-c)
        echo FILE
        ;;
    fetch--output | fetch-o)
        echo FILE
        ;;
    fetch--output-dir)
        echo FILE
        ;;
    fetch--continue-at | fetch-C)
        echo "-"
        ;;
    fetch--dump-header | fetch-D)
        echo FILE
        ;;
    fetch--unix-socket)
        echo FILE
        ;;
    fetch--cacert)
        echo FILE
        ;;
    fetch--cert | fetch-E)
        echo FILE
        ;;
    fetch--key)
        echo FILE
        ;;
    fetch--log-file)
        echo FILE
        ;;
    fetch--config | fetch-K)
        echo FILE
        ;;
    fetch--hedge)
        echo "p95 50ms"
        ;;
    fetch--idempotency-key)
        echo "auto"
        ;;
    fetch--tell)
        echo "private all nobody"
        ;;
    fetch--attempts)
        echo "unlimited"
        ;;
    proxy--config | proxy-c)
        echo FILE
        ;;
    worker--config | worker-c)
        echo FILE
        ;;
    enqueue--config | enqueue-c)
        echo FILE
        ;;
    explain--method | explain-X)
        echo "GET HEAD OPTIONS TRACE PUT DELETE POST PATCH"
        ;;
    explain--status | explain-s)
        echo "200 400 404 408 409 425 429 500 501 502 503 504"
        ;;
    explain--error | explain-e)
        echo "dns no_host connect reset timeout tls url malformed local cancelled
            upload connection_wait too_long refused_stream other GOAWAY CANCEL
            INTERNAL_ERROR"
        ;;
    explain--sent)
        echo "yes no"
        ;;
    explain--grpc | explain-g)
        echo "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND
            ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED
            FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL
            UNAVAILABLE DATA_LOSS UNAUTHENTICATED"
        ;;
    explain--body)
        echo FILE
        ;;
    explain--breaker)
        echo "closed open"
        ;;
    schedule--after)
        echo "any throttled conflict timeout"
        ;;
    replay--log)
        echo "common combined envoy istio haproxy json"
        ;;
    replay--html)
        echo FILE
        ;;
    sim--print)
        echo "thundering-herd flapping brown-out metastable deep-chain every-layer
            reconnect-storm rate-limited tail-latency double-charge mixed-fleet
            shard-down black-hole rolling-restart rush-hour queue-outage
            queue-flaky queue-poison"
        ;;
    sim--metric)
        echo "goodput success failures unfinished attempts amplification deepest
            mean p50 p99 p999 timed queue_wait utilisation duplicates peak
            wasted recover stuck overloaded all_back hedges"
        ;;
    sim--csv)
        echo FILE
        ;;
    sim--html)
        echo FILE
        ;;
    sim--svg)
        echo FILE
        ;;
    store--config | store-c)
        echo FILE
        ;;
    top--cacert)
        echo FILE
        ;;
    export--to | export-t)
        echo "istio envoy gateway grpc"
        ;;
    export--losses)
        echo FILE
        ;;
    import--from | import-f)
        echo "istio envoy grpc"
        ;;
    import--losses)
        echo FILE
        ;;
    *--policy | *-p)
        echo FILE
        ;;
    *--preset)
        echo "service patient queue sre aws-standard aws-2026 grpc envoy finagle"
        ;;
    *--jitter)
        echo "none full equal decorrelated proportional"
        ;;
    *--nested)
        echo "pass retry"
        ;;
    esac
}

# Options that take a value of their own making: nothing to offer.
_bide_takes_value() {
    case $2$1 in
    run--retry-on)
        return 0
        ;;
    run--stop-on)
        return 0
        ;;
    run--retry-if)
        return 0
        ;;
    run--stop-if)
        return 0
        ;;
    run--kill-after)
        return 0
        ;;
    run--on-retry)
        return 0
        ;;
    run--on-failure)
        return 0
        ;;
    run--on-success)
        return 0
        ;;
    run--key | run-k)
        return 0
        ;;
    run--fleet)
        return 0
        ;;
    fetch--header | fetch-H)
        return 0
        ;;
    fetch--data | fetch-d)
        return 0
        ;;
    fetch--data-binary)
        return 0
        ;;
    fetch--data-raw)
        return 0
        ;;
    fetch--data-urlencode)
        return 0
        ;;
    fetch--form | fetch-F)
        return 0
        ;;
    fetch--form-string)
        return 0
        ;;
    fetch--user-agent | fetch-A)
        return 0
        ;;
    fetch--range | fetch-r)
        return 0
        ;;
    fetch--url)
        return 0
        ;;
    fetch--write-out | fetch-w)
        return 0
        ;;
    fetch--user | fetch-u)
        return 0
        ;;
    fetch--proxy | fetch-x)
        return 0
        ;;
    fetch--proxy-user | fetch-U)
        return 0
        ;;
    fetch--noproxy)
        return 0
        ;;
    fetch--resolve)
        return 0
        ;;
    fetch--limit-rate)
        return 0
        ;;
    fetch--connect-timeout)
        return 0
        ;;
    fetch--stall-timeout)
        return 0
        ;;
    fetch--max-time | fetch-m)
        return 0
        ;;
    fetch--parallel-max | fetch-Z)
        return 0
        ;;
    fetch--retry)
        return 0
        ;;
    fetch--retry-delay)
        return 0
        ;;
    fetch--retry-max-time)
        return 0
        ;;
    worker--queue | worker-q)
        return 0
        ;;
    worker--broker | worker-b)
        return 0
        ;;
    worker--to | worker-t)
        return 0
        ;;
    worker--at-once | worker-n)
        return 0
        ;;
    worker--retry-on)
        return 0
        ;;
    worker--stop-on)
        return 0
        ;;
    worker--drain)
        return 0
        ;;
    worker--kill-after)
        return 0
        ;;
    worker--admin)
        return 0
        ;;
    worker--fleet)
        return 0
        ;;
    worker--otlp)
        return 0
        ;;
    worker--sample)
        return 0
        ;;
    enqueue--queue | enqueue-q)
        return 0
        ;;
    enqueue--broker | enqueue-b)
        return 0
        ;;
    enqueue--id)
        return 0
        ;;
    enqueue--key | enqueue-k)
        return 0
        ;;
    enqueue--delay | enqueue-d)
        return 0
        ;;
    enqueue--priority | enqueue-p)
        return 0
        ;;
    enqueue--attribute | enqueue-a)
        return 0
        ;;
    check--capacity)
        return 0
        ;;
    check--load)
        return 0
        ;;
    check--p99)
        return 0
        ;;
    check--clients)
        return 0
        ;;
    check--depth)
        return 0
        ;;
    explain--header | explain-H)
        return 0
        ;;
    explain--attempt | explain-n)
        return 0
        ;;
    explain--elapsed)
        return 0
        ;;
    explain--idempotency-key)
        return 0
        ;;
    explain--upstream-attempt)
        return 0
        ;;
    explain--now)
        return 0
        ;;
    schedule--draws | schedule-n)
        return 0
        ;;
    replay--start)
        return 0
        ;;
    sim--variant)
        return 0
        ;;
    sim--sweep)
        return 0
        ;;
    sim--assert)
        return 0
        ;;
    sim--replications | sim-n)
        return 0
        ;;
    sim--threads)
        return 0
        ;;
    sim--duration)
        return 0
        ;;
    sim--loads)
        return 0
        ;;
    sim--triggers)
        return 0
        ;;
    sim--row)
        return 0
        ;;
    store--store | store-s)
        return 0
        ;;
    store--scope)
        return 0
        ;;
    store--older-than)
        return 0
        ;;
    store--limit | store-n)
        return 0
        ;;
    top--interval | top-i)
        return 0
        ;;
    demo--seconds | demo-s)
        return 0
        ;;
    demo--listen | demo-l)
        return 0
        ;;
    export--host)
        return 0
        ;;
    export--service)
        return 0
        ;;
    export--method)
        return 0
        ;;
    *--attempts)
        return 0
        ;;
    *--attempt-timeout)
        return 0
        ;;
    *--deadline)
        return 0
        ;;
    *--base)
        return 0
        ;;
    *--factor)
        return 0
        ;;
    *--cap)
        return 0
        ;;
    *--floor)
        return 0
        ;;
    *--set)
        return 0
        ;;
    *--seed)
        return 0
        ;;
    esac
    return 1
}

# Behind `--` stands a command with arguments of its own.
_bide_run_command() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" = -- ] || continue
        if ((i + 1 == COMP_CWORD)); then
            COMPREPLY=($(compgen -c -- "$cur"))
        else
            COMPREPLY=($(compgen -f -- "$cur"))
        fi
        return 0
    done
    return 1
}

_bide() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local commands='run fetch proxy worker enqueue check explain schedule replay sim store top demo export import help'
    local command=${COMP_WORDS[1]} values

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
        return
    fi
    if [ "$command" = help ]; then
        COMPREPLY=($(compgen -W "$commands" -- "$cur"))
        return
    fi
    if [ "$command" = run ] && _bide_run_command; then
        return
    fi
    values=$(_bide_values "$command" "$prev")
    if [ "$values" = FILE ]; then
        COMPREPLY=($(compgen -f -- "$cur"))
    elif [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$cur"))
    elif _bide_takes_value "$prev" "$command"; then
        return
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$(_bide_flags "$command")" -- "$cur"))
    elif [ "$command" = sim ]; then
        COMPREPLY=($(compgen -W "$_bide_scenarios stability selftest" -- "$cur")
            $(compgen -f -- "$cur"))
    elif [ "$command" = store ]; then
        COMPREPLY=($(compgen -W "ls show purge" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}

complete -o filenames -F _bide bide
