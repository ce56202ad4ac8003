import type { Config } from '../config/index.ts'

type Server = Pick<Config['server'], 'host' | 'port' | 'baseUrl'>

/** Where this machine reaches the server: one on every address answers on the loopback one. */
export function localUrl({ host, port }: Server): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** The address in links and documents, without a slash at its end. */
export const baseUrlOf = (server: Server): string =>
  (server.baseUrl ?? localUrl(server)).replace(/\/+$/, '')
