import { BlockList, isIP } from 'node:net'
import { ALL_PROVIDERS, type Config } from '../../config/index.ts'
import type { Invocation } from '../command.ts'
import { type Finding, ok, warning } from './finding.ts'
import { named } from './words.ts'

export const configuration = ({ file, warnings }: Invocation['loaded']): Finding[] => [
  ok('configuration', file ? `read from ${file}` : 'no file; defaults and environment'),
  ...warnings.map(({ at, message }) => warning('configuration', `${at}: ${message}`)),
]

/** Warns of a variable that turns off certificate checks in other programs, not in outbound calls. */
export const environment = (env: Invocation['io']['env']): Finding =>
  env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
    ? warning(
        'environment',
        'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, but jobs still check certificates',
      )
    : ok('environment', 'no conflicts')

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/** Who can reach the server, and what they can read on the way. */
export function exposure({ server }: Config): Finding {
  const name = server.baseUrl === undefined ? undefined : hostOf(server.baseUrl)
  const isPublic = name !== undefined && !LOOPBACK.has(name)
  if (isPublic && LOOPBACK.has(server.host) && server.trustedProxies.length === 0)
    return warning(
      'network',
      `base_url is public, but the server listens on ${server.host}: name the reverse proxy in [server] trusted_proxies`,
    )
  if (!LOOPBACK.has(server.host) && server.baseUrl?.startsWith('http:'))
    return warning(
      'network',
      'base_url is http on an open address: API keys travel unencrypted. Use https behind a proxy',
    )
  if (name !== undefined && server.baseUrl?.startsWith('http:') && isOnTheInternet(name))
    return warning(
      'network',
      `base_url is http on ${name}: passwords and API keys travel unencrypted. ` +
        'Use a proxy with TLS, and https in base_url',
    )
  return ok('network', `${server.host}:${server.port}`)
}

const hostOf = (url: string) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')

const HOME = new BlockList()
HOME.addSubnet('10.0.0.0', 8)
HOME.addSubnet('127.0.0.0', 8)
HOME.addSubnet('172.16.0.0', 12)
HOME.addSubnet('192.168.0.0', 16)
HOME.addSubnet('169.254.0.0', 16)
HOME.addSubnet('100.64.0.0', 10)
HOME.addSubnet('fc00::', 7, 'ipv6')
HOME.addSubnet('fe80::', 10, 'ipv6')
HOME.addAddress('::1', 'ipv6')

const HOME_NAMES = /(^|\.)(localhost|local|lan|home|internal|test|home\.arpa)$/

/** Whether a host is on the public internet; private hosts may go without TLS. */
function isOnTheInternet(name: string): boolean {
  const version = isIP(name)
  if (version !== 0) return !HOME.check(name, version === 6 ? 'ipv6' : 'ipv4')
  return name.includes('.') && !HOME_NAMES.test(name)
}

/** Warns if social login is configured without `base_url`, which its callbacks need. */
export function providers({ gate, server }: Config): Finding[] {
  const inUse = ALL_PROVIDERS.filter((name) => gate.providers[name].clientId !== undefined)
  if (inUse.length === 0 || server.baseUrl !== undefined) return []
  return [
    warning(
      'providers',
      `${named(inUse)} redirect users to [server] base_url, which is not set: ` +
        'set it to the address you registered with them',
    ),
  ]
}
