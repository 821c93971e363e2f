// Numbers as people read them.

const whole = new Intl.NumberFormat('en-US');

export const count = (n: number): string => whole.format(n);

/** Three digits at most: 1234 is 1.23k. */
export function brief(n: number): string {
  const a = Math.abs(n);
  if (a >= 1e6) return `${digits(n / 1e6)}M`;
  if (a >= 1e4) return `${digits(n / 1e3)}k`;
  return a >= 100 || Number.isInteger(n) ? whole.format(Math.round(n)) : digits(n);
}

function digits(n: number): string {
  const a = Math.abs(n);
  return n.toFixed(a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2).replace(/\.?0+$/, (m) => (m.startsWith('.') ? '' : m));
}

/** 268435456 is 256 MiB. */
export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${digits(n)} ${units[i]}`;
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return '–';
  const p = share * 100;
  if (p === 100 || p === 0) return `${p}%`;
  // never round up to 100 %: one failure in a thousand is a failure
  if (p > 99.9) return `${(Math.floor(p * 100) / 100).toFixed(2)}%`;
  return `${p.toFixed(p >= 10 ? 1 : 2)}%`;
}

export function ms(v: number): string {
  if (v >= 60000) {
    const m = Math.floor(v / 60000);
    const s = Math.round((v - m * 60000) / 1000);
    return s ? `${m} min ${s} s` : `${m} min`;
  }
  if (v >= 1000) return `${digits(v / 1000)} s`;
  if (v >= 1) return `${digits(v)} ms`;
  return v === 0 ? '0' : `${digits(v * 1000)} µs`;
}

export function clock(at_ms: number): string {
  return new Date(at_ms).toLocaleTimeString('en-GB');
}

export function span(s: number): string {
  const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
  if (d) return `${d} d ${h} h`;
  if (h) return `${h} h ${m} min`;
  if (m) return `${m} min ${Math.floor(s) % 60} s`;
  return `${Math.floor(s)} s`;
}
