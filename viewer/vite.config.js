// Builds the viewer into one file, dist/index.html, with script and style inside: the server serves
// it as it is, and a report is the same file with its data put in.
import { createHash } from "node:crypto";
import { defineConfig } from "vite";

function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      let html = String(page.source);
      let script = "";
      for (const [name, item] of Object.entries(bundle)) {
        if (item === page) continue;
        if (item.type === "chunk") script += item.code;
        else if (name.endsWith(".css")) {
          html = html.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${item.source}</style>`);
        } else throw new Error(`one-file: cannot inline ${name}`);
        delete bundle[name];
      }
      script = script.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
      const hash = createHash("sha256").update(script).digest("base64");
      html = html
        .replace(/<script type="module"[^>]*><\/script>\s*/, "")
        .replace("SCRIPT-HASH", () => `sha256-${hash}`)
        .replace("</body>", () => `<script>${script}</script></body>`);
      page.source = html;
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [oneFile()],
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 30,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { output: { format: "iife", inlineDynamicImports: true } },
  },
});
