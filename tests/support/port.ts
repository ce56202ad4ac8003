import { randomInt } from 'node:crypto'

/**
 * A port that is free now. It lies below those that systems hand out by themselves, so that no
 * target of another file, whose tests run beside these, gets it before it is used.
 */
export function freePort(): number {
  const port = randomInt(10_000, 32_768)
  return isFree(port) ? port : freePort()
}

function isFree(port: number): boolean {
  try {
    const server = Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() })
    void server.stop(true)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}
