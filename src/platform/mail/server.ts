import { domainToASCII } from 'node:url'

/** The address of the mail server and the credentials for it. */
export interface MailServer {
  host: string
  port: number
  /** Whether the connection uses TLS from the start. */
  secure: boolean
  /** Whether to fail if the server offers no TLS. */
  requireTLS: boolean
  auth?: { user: string; pass: string }
}

const SUBMISSION = 587
const SUBMISSIONS = 465

/** Parses a validated URL. Only a server on this machine may receive a password without TLS. */
export function mailServerOf(smtpUrl: string): MailServer {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  const secure = protocol === 'smtps:'
  const host = decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1')
  const server = {
    host,
    port: Number(port) || usualPort(secure),
    secure,
    requireTLS: !secure && username !== '' && !isThisMachine(host),
  }
  if (username === '') return server
  return {
    ...server,
    auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
  }
}

/** The URL of a mail server, the reverse of `mailServerOf`. */
export function smtpUrlOf({ host, port, secure, auth }: Omit<MailServer, 'requireTLS'>): string {
  const login = auth ? `${encodeURIComponent(auth.user)}:${encodeURIComponent(auth.pass)}@` : ''
  return `${secure ? 'smtps' : 'smtp'}://${login}${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The port that servers usually have, with TLS from the start or not. */
export const usualPort = (secure: boolean): number => (secure ? SUBMISSIONS : SUBMISSION)

/** The time limits and trusted certificates of a connection. */
export interface TransportLimits {
  connectMs: number
  silenceMs: number
  /** Additional trusted root certificates, PEM. */
  ca?: string[] | undefined
}

/** For every connection to the mail server; mails can't make it read files or fetch URLs. */
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

/** The password as configured and as encoded for sending, which error messages must not contain. */
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

/** Parses `Gatehouse <gatehouse@example.org>` or a plain address, with `brandName` as its name. */
export function senderOf(from: string, brandName: string): Sender {
  const [, name = '', address = from] = /^(.*)<([^<>]+)>$/.exec(from) ?? []
  return { name: name.trim().replace(/^"(.*)"$/, '$1') || brandName, address }
}

/** The domain in message ids. */
export const domainOf = ({ address }: Sender): string =>
  domainToASCII(address.slice(address.lastIndexOf('@') + 1)) || 'localhost'
