import { domainToASCII } from 'node:url'

/** Where mail is handed in, and as whom. */
export interface MailServer {
  host: string
  port: number
  /** TLS from the first byte. */
  secure: boolean
  /** Refuses to go on without TLS. */
  requireTLS: boolean
  auth?: { user: string; pass: string }
}

const SUBMISSION = 587
const SUBMISSIONS = 465

/** Reads a validated URL. Passwords are sent without TLS only to this machine. */
export function mailServerOf(smtpUrl: string): MailServer {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  const secure = protocol === 'smtps:'
  const host = decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1')
  const server = {
    host,
    port: Number(port) || (secure ? SUBMISSIONS : SUBMISSION),
    secure,
    requireTLS: !secure && username !== '' && !isThisMachine(host),
  }
  if (username === '') return server
  return {
    ...server,
    auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
  }
}

/** How long a connection may take, and whom it trusts. */
export interface TransportLimits {
  connectMs: number
  silenceMs: number
  /** Roots trusted beside the usual ones, PEM. */
  ca?: string[] | undefined
}

/**
 * How every connection to the server is made. Nothing that a mail says has a file read or an
 * address fetched.
 */
export const transportOptions = (
  server: MailServer,
  { connectMs, silenceMs, ca }: TransportLimits,
) => ({
  ...server,
  forceAuth: server.auth !== undefined,
  connectionTimeout: connectMs,
  greetingTimeout: connectMs,
  dnsTimeout: connectMs,
  socketTimeout: silenceMs,
  socketCloseTimeout: 0,
  maxResponseSize: 64 * 1024,
  tls: { minVersion: 'TLSv1.2' as const, ca },
  disableFileAccess: true,
  disableUrlAccess: true,
})

/** The password as it is written and as it goes over the wire: what an error must not repeat. */
export function secretsOf({ auth }: MailServer): string[] {
  if (!auth) return []
  const { user, pass } = auth
  return [pass, encodeURIComponent(pass), base64(pass), base64(`\0${user}\0${pass}`)]
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const isThisMachine = (host: string) => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)

export interface Sender {
  name: string
  address: string
}

/** `Gatehouse <gatehouse@example.org>`, or an address alone, for which `brandName` signs. */
export function senderOf(from: string, brandName: string): Sender {
  const [, name = '', address = from] = /^(.*)<([^<>]+)>$/.exec(from) ?? []
  return { name: name.trim().replace(/^"(.*)"$/, '$1') || brandName, address }
}

/** The domain that the ids of mails end in. */
export const domainOf = ({ address }: Sender): string =>
  domainToASCII(address.slice(address.lastIndexOf('@') + 1)) || 'localhost'
