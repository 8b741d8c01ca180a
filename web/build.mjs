// Bundles the page: one script, one style sheet. The same sources give the same bytes.
// `node build.mjs [folder]` writes to src/strod/explorer/static unless told otherwise.
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../src/strod/explorer/static");
const bundled = ["preact", "d3-hierarchy"];

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none", // they are in licences.txt
});
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/app.css" },
  outdir: out,
  bundle: true,
  minify: true,
  charset: "utf8",
  target: ["es2022", "chrome120", "firefox121", "safari17"],
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) await copyFile(join(here, "src", name), join(out, name));
const licences = await Promise.all(
  bundled.map(async (name) => `${name}\n\n${await readFile(join(here, "node_modules", name, "LICENSE"), "utf8")}`),
);
await writeFile(join(out, "licences.txt"), licences.join("\n\n"));
