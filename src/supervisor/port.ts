/**
 * Claims the port for a moment, so that the server of someone else on it is an error, and returns
 * it. 0 chooses a free one, which all processes then use.
 */
export function freePort({ host, port }: { host: string; port: number }): number {
  const claim = Bun.listen({ hostname: host, port, socket: { data() {} } })
  try {
    return claim.port
  } finally {
    claim.stop(true)
  }
}
