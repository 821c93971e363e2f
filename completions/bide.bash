# bash completion for bide(1). The flags of each command are listed here; a test
# (test/cli/flags.py) holds them against `bide COMMAND --help`.

_bide_policy_flags='--policy --preset --attempts --attempt-timeout --deadline
    --base --factor --cap --jitter --floor --nested --set --seed'

_bide_scenarios='thundering-herd flapping brown-out metastable deep-chain
    every-layer reconnect-storm rate-limited tail-latency double-charge
    mixed-fleet shard-down'

_bide_flags() {
    case $1 in
    run)
        echo "--retry-on --stop-on --retry-if --stop-if --until --at-most-once
            --signal --kill-after --foreground --on-retry --on-failure
            --on-success --stdin --output --key --list --reset --json
            --log-file --quiet --verbose $_bide_policy_flags --help"
        ;;
    fetch)
        echo "--request --header --data --data-binary --data-raw
            --data-urlencode --get --form --form-string --upload-file
            --user-agent --cookie --cookie-jar --range --compressed --url
            --output --remote-name --remote-header-name --output-dir
            --create-dirs --continue-at --remote-time --head --include
            --dump-header --write-out --location --fail --user --netrc --proxy
            --proxy-user --noproxy --unix-socket --resolve --ipv4 --ipv6
            --cacert --cert --key --insecure --limit-rate --connect-timeout
            --stall-timeout --max-time --parallel-max --silent --show-error
            --verbose --explain --json --log-file --config --hedge
            --idempotency-key --tell $_bide_policy_flags --retry --retry-delay
            --retry-max-time --retry-connrefused --help"
        ;;
    proxy) echo "--config --check --help" ;;
    check)
        echo "--json --sarif --quiet --no-lint --capacity --load --p99
            --clients --depth --defaults --reference --schema --help"
        ;;
    explain)
        echo "--method --status --error --sent --grpc --header --body --attempt
            --elapsed --idempotency-key --one-shot-body --breaker
            --budget-spent --upstream-attempt
            --now --json $_bide_policy_flags --help"
        ;;
    schedule) echo "--draws --after --json $_bide_policy_flags --help" ;;
    sim)
        echo "--list --print --variant --compare --sweep --metric --assert
            --replications --threads --duration --loads --triggers --row --json
            --csv --html --svg --quiet --no-progress --reference --schema
            $_bide_policy_flags --help"
        ;;
    top) echo "--once --json --interval --cacert --help" ;;
    demo) echo "--seconds --keep --json --listen --no-dashboard --open --help" ;;
    replay)
        echo "--json --log --calls --start --compare --html
            $_bide_policy_flags --help"
        ;;
    export)
        echo "--to --host --service --method --strict --losses
            $_bide_policy_flags --help"
        ;;
    import) echo "--from --strict --losses --help" ;;
    *) echo "--help --version" ;;
    esac
}

# The words that an option takes; "FILE" for a file, nothing if anything goes.
_bide_values() {
    case $1$2 in
    run--stdin) echo "auto replay inherit null" && return ;;
    run--output | run-o) echo "all prefix last success" && return ;;
    run--log-file) echo FILE && return ;;
    run--until) echo "success failure" && return ;;
    run--signal | run-s) echo "TERM INT HUP QUIT KILL USR1 USR2" && return ;;
    run--attempts | fetch--attempts) echo "unlimited" && return ;;
    fetch--request | fetch-X)
        echo "GET HEAD OPTIONS TRACE PUT DELETE POST PATCH" && return
        ;;
    fetch--output | fetch-o | fetch--upload-file | fetch-T | fetch--cacert | \
        fetch--log-file | fetch--cookie-jar | fetch-c | fetch--output-dir | \
        fetch--dump-header | fetch-D | fetch--unix-socket | fetch--cert | \
        fetch-E | fetch--key | fetch--config | fetch-K | fetch--cookie | \
        fetch-b) echo FILE && return ;;
    fetch--continue-at | fetch-C) echo "-" && return ;;
    fetch-i | fetch-n | fetch-k) return ;; # these take no value either
    proxy--config | proxy-c) echo FILE && return ;;
    fetch--hedge) echo "p95 50ms" && return ;;
    fetch--idempotency-key) echo "auto" && return ;;
    fetch-f | fetch-s | fetch-S) return ;; # these take no value
    sim--print) echo "$_bide_scenarios" && return ;;
    sim--csv | sim--html | sim--svg | replay--html) echo FILE && return ;;
    replay--log) echo "common combined envoy istio haproxy json" && return ;;
    sim--metric)
        echo "goodput success failures unfinished attempts amplification
            deepest mean p50 p99 p999 timed queue_wait utilisation duplicates
            peak wasted recover stuck overloaded all_back hedges" && return
        ;;
    esac
    case $2 in
    --policy | -p | --body | --losses) echo FILE ;;
    --to | -t) echo "istio envoy gateway grpc" ;;
    --from | -f) echo "istio envoy grpc" ;;
    --preset) echo "service patient sre aws-standard aws-2026 grpc envoy finagle" ;;
    --after) echo "any throttled conflict timeout" ;;
    --jitter) echo "none full equal decorrelated proportional" ;;
    --method | -X)
        [ "$1" = explain ] || return # export: the name of a gRPC method
        echo "GET HEAD OPTIONS TRACE PUT DELETE POST PATCH"
        ;;
    --status | -s)
        echo "200 400 404 408 409 425 429 500 501 502 503 504"
        ;;
    --error | -e)
        echo "dns no_host connect reset timeout tls url malformed local
            cancelled other"
        ;;
    --sent) echo "yes no" ;;
    --nested) echo "pass retry" ;;
    --tell) echo "private all nobody" ;;
    --grpc | -g)
        echo "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND
            ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED
            FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL
            UNAVAILABLE DATA_LOSS UNAUTHENTICATED"
        ;;
    --log) echo "common combined json" ;;
    esac
}

# Options that take a value of their own making: nothing to offer.
_bide_takes_value() {
    case $1 in
    --attempts | --attempt-timeout | --deadline | --base | --factor | --cap | \
        --floor | --set | --start | --seed | --row | --header | -H | --attempt | --elapsed | \
        --idempotency-key | --upstream-attempt | --now | --draws | --host | --service | --method | \
        --capacity | --load | --p99 | --clients | --depth | --retry-on | \
        --stop-on | --retry-if | --stop-if | --kill-after | --key | \
        --data | -d | --data-binary | --user | -u | --parallel-max | -Z | \
        --connect-timeout | --stall-timeout | --variant | --sweep | --assert | \
        --replications | --threads | --duration | --loads | --triggers | \
        --interval | --seconds | --listen | --on-retry | --on-failure | \
        --on-success | --data-raw | --data-urlencode | --form | -F | \
        --form-string | --user-agent | -A | --range | -r | --write-out | -w | \
        --proxy | -x | --proxy-user | -U | --noproxy | --resolve | \
        --limit-rate | --max-time | -m | --retry | --retry-delay | \
        --retry-max-time | --url) return 0 ;;
    -i | -n | -k) [ "$2" != fetch ] && return 0 ;;
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
    local commands='run fetch proxy check explain schedule replay sim top demo export import help'
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
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}

complete -o filenames -F _bide bide
