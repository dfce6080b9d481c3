// A folder as a static site on the loopback, as any file server would give it.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * @param {string} root
 * @returns {Promise<{base: string, close: () => void}>}
 */
export async function serve(root) {
  const server = createServer(async (request, response) => {
    const asked = decodeURIComponent(new URL(request.url, "http://page").pathname);
    const path = normalize(join(root, asked.endsWith("/") ? `${asked}index.html` : asked));
    const there = path.startsWith(root + sep) ? await stat(path).catch(() => null) : null;
    if (!there?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      "content-type": TYPES[extname(path)] ?? "application/octet-stream",
      "content-length": there.size,
    });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { base: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
