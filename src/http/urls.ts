import type { Config } from '../config/index.ts'

type Server = Pick<Config['server'], 'host' | 'port' | 'baseUrl'>

export function localUrl({ host, port }: Server): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** The base URL in links and documents, without a trailing slash. */
export const baseUrlOf = (server: Server): string =>
  (server.baseUrl ?? localUrl(server)).replace(/\/+$/, '')
