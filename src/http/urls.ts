import type { Config } from '../config/index.ts'

type Server = Pick<Config['server'], 'host' | 'port' | 'baseUrl'>

export function localUrl({ host, port }: Server): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** The base URL in links and documents, without a trailing slash. */
export const baseUrlOf = (server: Server): string =>
  (server.baseUrl ?? localUrl(server)).replace(/\/+$/, '')

/** The URL of a console page of a tenant; null for the installation. */
export const consoleUrl = (baseUrl: string, tenantId: string | null, path: string): string =>
  `${baseUrl}/console/${tenantId ?? 'installation'}${path}`
