// The title and the icon of the page: trouble shows in a tab that nobody looks at.
import { useEffect } from 'preact/hooks';
import type { Link } from './data';
import { counts, worstFirst, type Health } from './health';

function icon(fill: string): string {
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='${fill}'/>` +
    `<path d='M3 11V9M6.3 11V7.5M9.7 11V5.5M13 11V3' stroke='white' stroke-width='1.8' stroke-linecap='round'/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

export function useAlarm(list: Health[], link: Link, program: string): void {
  const n = counts(list);
  const mood = link === 'lost' ? 'lost' : n.bad ? 'bad' : n.warn ? 'warn' : 'good';
  const fill = { lost: '#7c8798', bad: '#d2433b', warn: '#d08a0f', good: '#2f6fed' }[mood];
  const worst = worstFirst(list)[0];
  const what = n.bad === 1 ? `${worst!.dep.name}: ${worst!.why}` : `${n.bad} in trouble`;
  const title = mood === 'lost' ? 'connection lost' : mood === 'bad' ? `✖ ${what}` : mood === 'warn' ? `! ${n.warn} to watch` : 'well';
  useEffect(() => {
    document.title = list.length || link === 'lost' ? `${title} · ${program || 'bide'}` : 'bide';
  }, [title, program]);
  useEffect(() => {
    const at = document.querySelector<HTMLLinkElement>('link[rel=icon]')!;
    at.href = icon(fill);
    at.dataset.mood = mood;
  }, [mood]);
}
