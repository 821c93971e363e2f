// Decisions in plain words: what happened, what was decided and why, and what one
// can do about it.
import { ms } from './format';
import { isWhole, type Brief, type Decision } from './types';

/** Why there was no further attempt; why there is a wait. Keys of the engine. */
export const reasons: Record<string, { short: string; advice: string }> = {
  success: { short: 'it worked', advice: '' },
  cancelled: { short: 'the caller gave up', advice: 'The client went away before there was an answer. If that happens often, its own timeout is shorter than this takes.' },
  client_timeout: { short: 'the caller gave it too little time', advice: 'The caller has a shorter deadline than the policy, and it was over before there was an answer. That is not held against the dependency.' },
  upload: { short: 'the body did not arrive in time', advice: 'The client did not deliver the body of its request. That is not held against the dependency.' },
  connection_wait: { short: 'no connection became free', advice: 'All connections to the endpoint are in use, and none became free in time. See pool.connections; if the dependency is slow, limits.in_flight refuses earlier.' },
  permanent: { short: 'would fail the same way again', advice: 'Retrying cannot help: the answer says that the request itself is wrong. Look at the request.' },
  server_refused: { short: 'the server said: do not retry', advice: 'The server knows that it is overloaded and asked to be left alone. That is worth more than any retry.' },
  not_idempotent: { short: 'doing it twice would do harm', advice: 'It may have been processed already. Send an Idempotency-Key, or let the policy make one (idempotency: { key: generate }), and it can be retried safely.' },
  not_replayable: { short: 'the body cannot be sent again', advice: 'The body was larger than what is kept for a retry.' },
  attempts: { short: 'no attempts are left', advice: 'Every attempt that the policy allows has failed. More attempts are more load on something that is ill: look at the dependency first.' },
  upstream_retries: { short: 'a layer above retries', advice: 'The request came with X-Bide-Attempt: whoever sent it owns the retries, so that they do not multiply.' },
  retries_off: { short: 'retries are switched off', advice: 'Somebody turned the retries of this dependency off. Every call makes one attempt until they are turned on again.' },
  no_hint: { short: 'throttled, and not told for how long', advice: 'The policy stops at a 429 that does not say when to come again (throttled_without_hint).' },
  hint_too_long: { short: 'asked to wait too long', advice: 'The server asks for a longer wait than retry_after.max allows a caller to hang.' },
  deadline: { short: 'no time left for another attempt', advice: 'The wait and another attempt do not fit what is left of the deadline. Better to say so now than to sleep first and find out later.' },
  breaker_open: { short: 'the breaker is open', advice: 'So many attempts failed that the dependency is left alone for a while. A few probes will find out whether it is back.' },
  budget: { short: 'the retry budget is spent', advice: 'Retries of all calls together have reached their share. Without that limit they would be a second wave on something that is already down.' },
  in_flight: { short: 'too many at once', advice: 'limits.in_flight attempts are running already, and its queue is full.' },
  local_throttle: { short: 'most requests are being refused', advice: 'The dependency refuses so much that sending this one would most likely be wasted.' },
  adaptive_rate: { short: 'no room at the rate the server allows', advice: 'The rate that was learned from its 429s leaves no room before the deadline.' },
  rate: { short: 'no turn at the rate of the policy', advice: 'limits.rate attempts a second leave no turn in the time there is. A burst may help, fewer calls will.' },
  shed_retry: { short: 'a retry from above, refused first', advice: 'Places in flight are short, and a layer above has tried this request before. First attempts go first.' },
  shed_priority: { short: 'refused for those of higher priority', advice: 'Places in flight are short, and kept for requests of a higher priority.' },
  unreachable: { short: 'no connection is accepted', advice: 'Nothing listened for as long as the policy lets a call wait. See whether the dependency runs, and whether its address is right.' },
  cut_short: { short: 'the answer broke off', advice: 'Part of the answer had been passed on when the endpoint or the client stopped. It cannot be taken back.' },
  first: { short: 'the first attempt', advice: '' },
  backoff: { short: 'waits as the policy computes', advice: '' },
  hint: { short: 'waits as the server asked', advice: '' },
  immediate: { short: 'retries at once', advice: '' },
  hedge: { short: 'sends a second one beside it', advice: '' },
  running: { short: 'another attempt still runs', advice: '' },
  knocking: { short: 'waits until connections are accepted', advice: '' },
  not_processed: { short: 'the server did not begin with it', advice: '' },
  held: { short: 'waits until breaker, budget or limits let it go', advice: '' },
  queued: { short: 'waits for a place', advice: '' },
  paced: { short: 'waits for the allowed rate', advice: '' },
};

const faults: Record<string, string> = {
  dns: 'the name could not be looked up just now',
  no_host: 'there is no such host',
  connect: 'the connection was refused',
  reset: 'the connection broke off',
  timeout: 'there was no answer in time',
  tls: 'the certificate was not accepted',
  url: 'the address is not valid',
  malformed: 'what came back was not an answer',
  local: 'this machine ran out of sockets or memory',
  cancelled: 'the caller gave up',
  upload: 'the client did not deliver the body',
  connection_wait: 'no connection became free in time',
  too_long: 'the head of the answer is longer than limits.header_bytes or limits.headers',
  other: 'it failed',
  refused_stream: 'the server did not begin with it',
};

const classes: Record<string, string> = {
  transient: 'transient: it may well work a moment later',
  throttled: 'throttled: asked too often, slower may work',
  overloaded: 'overloaded: too much to do, and it said so',
  permanent: 'permanent: the same again will fail the same way',
  ignored: 'ignored: it says nothing about the dependency',
  success: 'success',
};

export const short = (reason: string): string => reasons[reason]?.short ?? reason;

/** "503", "refused": what came of the attempt, in a word. */
export function outcome(d: Decision): string {
  if (d.fault) return d.fault;
  if (d.grpc_status) return d.grpc_status;
  return d.status ? String(d.status) : d.class;
}

/** What was decided, in a few words. */
export function decided(d: Decision): string {
  if (d.action === 'wait' && d.reason === 'running') return 'waits for the other attempt';
  if (d.action === 'wait') return `tries again in ${ms(d.wait_ms)}`;
  if (d.action === 'try') return d.reason === 'hedge' ? 'sends a hedge' : 'tries again at once';
  return d.attempt ? 'gives up' : 'refused';
}

function happened(d: Decision): string {
  const what = d.operation || 'The call';
  if (d.attempt === 0) {
    return d.times > 1 ? `${d.times} calls in a row, the last of them ${what}, were not sent at all.` : `${what} was not sent at all.`;
  }
  const which = d.attempts > 1 ? `attempt ${d.attempt} of ${d.attempts}` : `attempt ${d.attempt}`;
  const where = (d.endpoint ? ` at ${d.endpoint}` : '') + (d.protocol ? ` by ${d.protocol}` : '');
  if (d.fault) return `${what}, ${which}${where}: ${faults[d.fault] ?? d.fault}, after ${ms(d.took_ms)}.`;
  const grpc = d.grpc_status ? `, gRPC status ${d.grpc_status},` : '';
  if (d.status) return `${what}, ${which}${where}: answered ${d.status}${grpc} after ${ms(d.took_ms)}.`;
  return `${what}, ${which}${where}: failed after ${ms(d.took_ms)}.`;
}

function judged(d: Decision): string {
  if (d.attempt === 0) return 'No attempt was made, so there is nothing to classify.';
  const proof = d.not_processed ? ' It is certain that it had no effect, so any request may be sent again.' : '';
  return `bide takes that for ${classes[d.class] ?? d.class}.${proof}`;
}

function rule(dep: Brief | undefined, key: string): string | undefined {
  return dep && isWhole(dep) ? dep.rules.find((r) => r[0] === key)?.[1] : undefined;
}

function waits(d: Decision, dep: Brief | undefined): string {
  const jitter = rule(dep, 'backoff.jitter');
  switch (d.reason) {
    case 'hint':
      return `The server asked to wait ${ms(d.hint_ms ?? d.value_ms)}. bide waits ${ms(d.wait_ms)}: never shorter, and a little longer at random, so that all who were told the same do not come at once.`;
    case 'immediate':
      return 'The connection was not even made, so the first retry goes at once.';
    case 'backoff':
      return jitter && jitter !== 'none'
        ? `It waits ${ms(d.wait_ms)} before attempt ${d.attempt + 1}. The policy computed ${ms(d.value_ms)}; ${jitter} jitter drew ${ms(d.wait_ms)}, so that calls which failed together do not return together.`
        : `It waits ${ms(d.wait_ms)} before attempt ${d.attempt + 1}, as the policy computes, without jitter.`;
    default:
      return `It ${short(d.reason)}.`;
  }
}

export interface Explanation {
  happened: string;
  judged: string;
  decided: string;
  advice: string;
  command: string;
}

export function explain(d: Decision, dep: Brief | undefined, file: string | undefined): Explanation {
  const done = d.action === 'done';
  const before = d.attempt > 1 && d.asked_ms > 0
    ? ` The wait before it was computed as ${ms(d.computed_ms)}, drawn as ${ms(d.asked_ms)}, and took ${ms(d.slept_ms)}.` : '';
  return {
    happened: happened(d) + before,
    judged: judged(d),
    decided: done ? `There is no ${d.attempt ? 'further ' : ''}attempt: ${d.text}.` : waits(d, dep),
    advice: done ? reasons[d.reason]?.advice ?? '' : '',
    command: command(d, dep, file),
  };
}

/** Decided by what was going on just then, which bide explain cannot be told. */
const byLoad = [
  'in_flight', 'local_throttle', 'adaptive_rate', 'shed_retry', 'shed_priority', 'connection_wait', 'client_timeout',
  'upload', 'cut_short', 'running', 'queued', 'paced', 'hedge', 'retries_off', 'cancelled', 'knocking', 'held', 'unreachable',
];

/** As a shell reads it. */
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`);

const flagOf: Record<string, string> = {
  attempts: 'attempts', attempt_timeout: 'attempt-timeout', deadline: 'deadline', 'backoff.base': 'base',
  'backoff.factor': 'factor', 'backoff.cap': 'cap', 'backoff.jitter': 'jitter', 'backoff.floor': 'floor',
};

/** Where the policy is: in a file, or as far as flags can say it. */
function policyFlags(dep: Brief | undefined, file: string | undefined): string[] {
  if (file) return [`--policy ${quote(dep?.policy && dep.policy !== 'default' ? `${file}:${dep.policy}` : file)}`];
  if (!dep || !isWhole(dep)) return [];
  return dep.rules.filter(([key, value]) => flagOf[key] && (key === 'backoff.jitter' || /^\d/.test(value)))
    .map(([key, value]) => `--${flagOf[key]} ${quote(value)}`);
}

/** What happened, as flags. */
function outcomeFlags(d: Decision): string[] {
  const parts: string[] = [];
  if (d.status) parts.push(`--status ${d.status}`);
  else if (d.fault) parts.push(`--error ${d.fault}`, `--sent ${d.not_processed ? 'no' : 'yes'}`);
  if (d.hint_ms !== undefined) {
    parts.push(d.hint_ms % 1000 === 0 ? `--header 'Retry-After: ${d.hint_ms / 1000}'` : `--header 'retry-after-ms: ${Math.round(d.hint_ms)}'`);
  }
  if (d.reason === 'server_refused') parts.push("--header 'X-Bide-Retry: no'");
  return parts;
}

const idempotent = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'];
const beforeThat = ['permanent', 'server_refused', 'not_idempotent']; // rules that do not ask whether it may be repeated

/** The same question, for the command line; '' if it has no way to ask it. */
function command(d: Decision, dep: Brief | undefined, file: string | undefined): string {
  const method = d.operation.split(' ')[0] ?? '';
  if (byLoad.includes(d.reason)) return '';
  const parts = ['bide explain', ...policyFlags(dep, file)];
  if (/^[A-Z]+$/.test(method) && method !== 'GET') parts.push(`--method ${method}`);
  if (d.attempt) parts.push(...outcomeFlags(d));
  if (d.attempt > 1) parts.push(`--attempt ${d.attempt}`);
  if (d.elapsed_ms >= 1) parts.push(`--elapsed ${Math.round(d.elapsed_ms)}ms`);
  if (d.attempt && !idempotent.includes(method) && !d.not_processed && !beforeThat.includes(d.reason)) parts.push('--idempotency-key k');
  if (d.reason === 'breaker_open') parts.push('--breaker open');
  if (d.reason === 'budget') parts.push('--budget-spent');
  if (d.reason === 'not_replayable') parts.push('--one-shot-body');
  if (d.reason === 'upstream_retries') parts.push('--upstream-attempt 1');
  return parts.join(' ');
}
