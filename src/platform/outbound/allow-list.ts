import { isIP } from 'node:net'
import { invalid } from '../errors.ts'
import { type Network, parseNetwork } from './networks.ts'

/** The targets that an operator allowed in addition to the public internet. */
export interface AllowList {
  /** The prefix length of the most specific entry that contains `address`; -1 if there is none. */
  prefixFor(address: string, port: number): number
  /** Whether an entry names this host. */
  hasName(name: string, port: number): boolean
}

interface AllowEntry {
  network?: Network
  /** In lower case; a leading dot matches every name with this suffix. */
  name?: string
  /** Undefined for all ports. */
  port: number | undefined
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * Parses entries such as `192.168.0.0/16`, `10.0.0.7:8123`, `[fd00::7]:443`, `homeassistant` and
 * `*.lan`. Throws `invalid` with the entry and the problem.
 */
export function parseAllowList(entries: string[]): AllowList {
  const parsed = entries.map(parseEntry)
  const open = (entry: AllowEntry, port: number) => entry.port === undefined || entry.port === port
  return {
    prefixFor: (address, port) =>
      Math.max(-1, ...parsed.filter((e) => open(e, port)).map((e) => prefixIn(e, address))),
    hasName: (name, port) => parsed.some((e) => open(e, port) && isNamedBy(e, name)),
  }
}

function prefixIn({ network }: AllowEntry, address: string): number {
  if (!network || network.family !== isIP(address)) return -1
  return network.contains(address) ? network.prefix : -1
}

function isNamedBy({ name }: AllowEntry, candidate: string): boolean {
  if (name === undefined) return false
  return name.startsWith('.') ? candidate.endsWith(name) : candidate === name
}

function parseEntry(text: string): AllowEntry {
  const { host, port } = splitPort(text.trim())
  const network = parseNetwork(host)
  if (network) return { network, port: toPort(text, port) }
  if (host.includes('://')) throw refusal(text, 'write a host name, not a URL')
  if (/[/:]|^[\d.]+$/.test(host)) throw refusal(text, `${host} is not an IP address or CIDR`)
  return { name: toName(text, host), port: toPort(text, port) }
}

/** Splits off the port. IPv6 addresses contain colons, so their port needs brackets. */
function splitPort(text: string): { host: string; port: string | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text)
  if (bracketed) return { host: bracketed[1] ?? '', port: bracketed[2] }
  const plain = /^([^:]*):([^:/]*)$/.exec(text)
  return plain ? { host: plain[1] ?? '', port: plain[2] } : { host: text, port: undefined }
}

function toPort(entry: string, port: string | undefined): number | undefined {
  if (port === undefined) return undefined
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0
  if (number < 1 || number > 65_535) throw refusal(entry, `${port || '""'} is not a port`)
  return number
}

function toName(entry: string, host: string): string {
  const wild = host.startsWith('*.')
  const name = (wild ? host.slice(2) : host).toLowerCase().replace(/\.$/, '')
  if (name === '' || name === '*') throw refusal(entry, 'must be a host, a network or *.suffix')
  if (name.length > 253 || !name.split('.').every((label) => LABEL.test(label))) {
    throw refusal(entry, `${host} is not a host name`)
  }
  return wild ? `.${name}` : name
}

const refusal = (entry: string, problem: string) =>
  invalid(`"${entry}": ${problem}`, { rule: 'format' })
