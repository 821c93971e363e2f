// What /api/state sends: observe/admin/view.h is the description.

export type Breaker = 'closed' | 'open' | 'half_open';
export type BreakerMode = 'normal' | 'forced_open' | 'forced_closed' | 'dry_run';

/** What happened in one second. */
export interface Sample {
  at_ms: number;
  seconds: number;
  first: number;
  late: number;
  refused: Record<string, number>;
  attempts: number;
  backoff: number;
  hint: number;
  immediate: number;
  hedges: number;
  hedges_won: number;
  budget: number | null;
  breaker: Breaker;
  p50_call_ms: number | null;
  p99_call_ms: number | null;
  p50_attempt_ms: number | null;
  p99_attempt_ms: number | null;
}

export interface Endpoint {
  address: string;
  state: string;
  text: string;
  in_flight: number;
  connections: number;
  idle: number;
  http2: number; // of the connections
  requests: number;
  failures: number;
  retries: number;
}

export interface Route {
  name: string;
  requests: number;
  retries: number;
}

/** [bucket, count] */
export type Buckets = [number, number][];

/** How well it is: observe/admin/condition.h. */
export type Mood = 'bad' | 'warn' | 'good' | 'idle';

/** What is known of every dependency, each second. */
export interface Brief {
  name: string;
  policy: string;
  faults: boolean;
  mood: Mood;
  why: string; // '' if it is well
  retries_on?: boolean; // absent where they cannot be switched off
  breaker: { on: boolean; state: Breaker; mode: BreakerMode; open_for_ms: number; opened: number };
  budget: { kind: string; left: number | null; usual: number | null };
  second: Sample | null;
  endpoints_up?: number;
  endpoints_all?: number;
  endpoints?: Endpoint[];
}

/** What it shares with the other instances of a fleet. */
export interface Fleet {
  joined: boolean;
  instances: number;
  leased: number; // retries that this instance may make without asking
  used: number; // of all, ...
  allowed: number; // ... over a window
  with_traffic: number;
  failing: number;
  trips: number;
}

/** And of the one that was asked for. */
export interface Dep extends Brief {
  calls: { first_success: number; late_success: number; failure: number };
  attempts: Record<string, number>;
  refused: Record<string, number>;
  retries: { backoff: number; hint: number; immediate: number; dropped: number };
  amplification: number;
  hedges: { on: boolean; sent: number; won: number; refused: number };
  breaker: Brief['breaker'] & {
    trips: number;
    attempts: number;
    failed: number;
    slow: number;
    opens_at: number;
    min_calls: number;
  };
  fleet?: Fleet; // if it is in one
  limits: { rate: number | null; in_flight: number; in_flight_max: number | null; queued: number };
  rules: [string, string, string][];
  waits: { computed: Buckets; jittered: Buckets; slept: Buckets; ideal: Buckets };
  times: { call: Buckets; attempt: Buckets };
  endpoints: Endpoint[];
  routes: Route[];
}

export const isWhole = (dep: Brief): dep is Dep => 'calls' in dep;

export interface Decision {
  id: number;
  at_ms: number;
  times: number; // the same in a row, refused without an attempt
  dep: string;
  operation: string;
  request_id: string;
  endpoint: string;
  attempt: number;
  attempts: number;
  why: string;
  class: string;
  status?: number;
  protocol?: string; // of the endpoint, if it is not HTTP/1.1
  grpc_status?: string;
  fault?: string;
  hint_ms?: number;
  not_processed: boolean;
  action: 'try' | 'wait' | 'done';
  reason: string;
  text: string;
  value_ms: number; // the wait that follows: before jitter, ...
  wait_ms: number; // ... and as drawn
  computed_ms: number; // the wait before: before jitter, ...
  asked_ms: number; // ... as drawn, ...
  slept_ms: number; // ... and as slept
  took_ms: number;
  elapsed_ms: number; // since the call began
}

export interface Turn {
  at_ms: number;
  dep: string;
  from: Breaker;
  to: Breaker;
}

export interface State {
  program: string;
  version: string;
  file?: string;
  now_ms: number;
  uptime_s: number;
  ready: boolean;
  draining: boolean;
  actions: boolean;
  bounds_ms: number[];
  deps: Brief[];
  values: { name: string; label?: string; label_value?: string; value: number; help: string }[];
  decisions: Decision[];
  turns: Turn[];
}
