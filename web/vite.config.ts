// One file of HTML with everything in it: that is what gets embedded.
import { defineConfig, type Plugin } from 'vite';

// Puts the script and the style into the page, and leaves no other file.
function inline(): Plugin {
  return {
    name: 'inline',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      if (!page || page.type !== 'asset') throw new Error('no index.html was built');
      let html = String(page.source);
      for (const [name, part] of Object.entries(bundle)) {
        if (part === page) continue;
        if (part.type === 'chunk') {
          const code = part.code.trim().replace(/<\/script/gi, '<\\/script');
          html = html.replace(/<script\b[^>]*src="[^"]*"[^>]*><\/script>/, '');
          html = html.replace('</body>', () => `<script type="module">${code}</script>\n</body>`);
        } else {
          const css = String(part.source).trim();
          html = html.replace(/<link\b[^>]*rel="stylesheet"[^>]*>/, () => `<style>${css}</style>`);
        }
        delete bundle[name];
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  base: './',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    target: 'es2021',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1e9,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
  // `npm run dev` shows what a running bide has: BIDE_ADMIN=127.0.0.1:9901
  server: {
    proxy: {
      '/api': { target: `http://${process.env.BIDE_ADMIN ?? '127.0.0.1:9901'}`, changeOrigin: true },
    },
  },
  plugins: [inline()],
});
