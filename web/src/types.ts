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
  requests: number;
  failures: number;
}

/** [bucket, count] */
export type Buckets = [number, number][];

export interface Dep {
  name: string;
  policy: string;
  calls: { first_success: number; late_success: number; failure: number };
  attempts: Record<string, number>;
  refused: Record<string, number>;
  retries: { backoff: number; hint: number; immediate: number; dropped: number };
  amplification: number;
  hedges: { on: boolean; sent: number; won: number; refused: number };
  breaker: {
    on: boolean;
    state: Breaker;
    mode: BreakerMode;
    attempts: number;
    failed: number;
    slow: number;
    opens_at: number;
    min_calls: number;
    open_for_ms: number;
    opened: number;
  };
  budget: { kind: string; left: number | null; usual: number | null };
  retries_on: boolean;
  limits: { rate: number | null; in_flight: number; in_flight_max: number | null; queued: number };
  rules: [string, string, string][];
  waits: { computed: Buckets; jittered: Buckets; slept: Buckets; ideal: Buckets };
  times: { call: Buckets; attempt: Buckets };
  second: Sample | null;
  endpoints: Endpoint[];
}

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
  fault?: string;
  hint_ms?: number;
  not_processed: boolean;
  action: 'try' | 'wait' | 'done';
  reason: string;
  text: string;
  value_ms: number;
  wait_ms: number;
  asked_ms: number;
  slept_ms: number;
  took_ms: number;
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
  now_ms: number;
  uptime_s: number;
  ready: boolean;
  draining: boolean;
  actions: boolean;
  bounds_ms: number[];
  deps: Dep[];
  values: { name: string; label?: string; label_value?: string; value: number; help: string }[];
  decisions: Decision[];
  turns: Turn[];
}
