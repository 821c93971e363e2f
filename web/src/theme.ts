// Light or dark: as the system says, until somebody chooses.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';

const key = 'bide-theme';

function stored(): Theme | null {
  try {
    const t = localStorage.getItem(key);
    return t === 'light' || t === 'dark' ? t : null;
  } catch {
    return null; // storage may be forbidden
  }
}

export function useTheme(): [Theme, () => void] {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const [theme, set] = useState<Theme>(stored() ?? (system.matches ? 'dark' : 'light'));

  useEffect(() => {
    const follow = () => stored() ?? set(system.matches ? 'dark' : 'light');
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  document.documentElement.dataset.theme = theme; // before charts ask for colours

  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(key, next);
    } catch {
      // then it lasts as long as the page
    }
    set(next);
  };
  return [theme, toggle];
}

/** A colour of the style sheet: "--ok". */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
