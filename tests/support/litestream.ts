import { join } from 'node:path'

/**
 * The control socket of Litestream in a folder: it confirms what was committed when a test lets it.
 * `answer` can be replaced; `calls` are the bodies of requests so far.
 */
export function startLitestream(folder: string) {
  const socket = join(folder, 'litestream.sock')
  const calls: unknown[] = []
  const replicator = {
    socket,
    calls,
    answer: (): Response | Promise<Response> => Response.json({ status: 'synced' }),
    [Symbol.dispose]: () => void server.stop(true),
  }
  const server = Bun.serve({
    unix: socket,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/info') return Response.json({})
      calls.push({ method: request.method, path: pathname, body: await request.json() })
      return replicator.answer()
    },
  })
  return replicator
}
