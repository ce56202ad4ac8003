import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Config } from '../../config/index.ts'
import { messageOf } from '../../db/errors.ts'
import { localUrl } from '../../http/urls.ts'
import { createBoundedFetch } from '../../platform/bounded-fetch.ts'
import { systemClock } from '../../platform/clock.ts'
import { CallFailure, isAboutCertificate } from '../../platform/transport/failure.ts'
import { type Finding, ok, warning } from './finding.ts'

const MAX_MS = 5000
const MAX_SKEW_MS = 30_000
const MAX_BODY_BYTES = 64 * 1024

/** The outcome of requesting `/healthz` from an address. */
export type Asked = { url: string } & (
  | { is: 'gatehouse'; skewMs: number; installation: string | undefined }
  | { is: 'other'; reason: string }
)

export interface AskOptions {
  /** Additional trusted root certificates, PEM. */
  ca?: string[]
  timeoutMs?: number
}

/** The public address, or else the one listened on; undefined if the port is chosen at start. */
export const addressOf = ({ server }: Pick<Config, 'server'>): string | undefined =>
  server.baseUrl ?? (server.port === 0 ? undefined : localUrl(server))

/** Requests `/healthz`, whose response identifies Gatehouse and the installation. Never throws. */
export async function ask(
  url: string,
  { ca, timeoutMs = MAX_MS }: AskOptions = {},
): Promise<Asked> {
  const fetchBounded = createBoundedFetch({
    clock: systemClock,
    timeoutMs,
    maxBodyBytes: MAX_BODY_BYTES,
    ca,
  })
  try {
    const sentAt = systemClock.now()
    const answer = await fetchBounded(`${url}/healthz`)
    const text = await answer.text()
    const alive = answer.status === 200 ? aliveIn(text) : undefined
    if (!alive) return { url, is: 'other', reason: reasonIn(answer.status, answer.headers, text) }
    const skewMs = skewOf(answer.headers.get('date'), sentAt, systemClock.now())
    return { url, is: 'gatehouse', skewMs, installation: alive.installation }
  } catch (error) {
    return { url, is: 'other', reason: reasonFor(error) }
  }
}

const Alive = Type.Object({
  status: Type.Literal('alive'),
  installation: Type.Optional(Type.String()),
})

function aliveIn(text: string): Static<typeof Alive> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return Value.Check(Alive, body) ? body : undefined
  } catch {
    return undefined
  }
}

function reasonIn(status: number, headers: Headers, text: string): string {
  if (status >= 500) return `status ${status}: the proxy cannot reach the server`
  if (status === 404)
    return 'status 404: it is another server, or the proxy removes part of the path'
  if (status !== 200)
    return `status ${status}: it is another server, or the proxy requires a sign-in`
  const isPage = /html/i.test(headers.get('content-type') ?? '') || /^\s*</.test(text)
  return isPage
    ? 'the response is a web page: it is another server'
    : 'the response is not from Gatehouse'
}

function reasonFor(error: unknown): string {
  const message = messageOf(error)
  if (!(error instanceof CallFailure)) return message
  if (error.reason === 'redirect') return `${message}: use the address it redirects to`
  if (/ENOTFOUND|EAI_AGAIN/.test(error.code)) return `${message}: the name is not in DNS`
  if (isAboutCertificate(error.code)) return `${message}: the certificate is not trusted`
  return message
}

/** The clock difference in milliseconds, apart from the time that the call took. */
export function skewOf(date: string | null, sentAt: number, receivedAt: number): number {
  const there = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(there) || (there >= sentAt - 1000 && there <= receivedAt)) return 0
  return there < sentAt ? there - sentAt : there - receivedAt
}

export interface Circumstances {
  isServerAlive: boolean
  /** Whether `base_url` is set; if not, the address is the one listened on. */
  isBaseUrl: boolean
  /** The installation mark that `/healthz` should show, if known. */
  mark: string | undefined
}

/** Judges the outcome. Without a running server, no answer is fine. */
export function judgeAsked(
  asked: Asked,
  { isServerAlive, isBaseUrl, mark }: Circumstances,
): Finding[] {
  const check = 'base_url'
  const { url } = asked
  if (asked.is === 'gatehouse' && mark && asked.installation && asked.installation !== mark)
    return [warning(check, `${url} is a different Gatehouse installation, with different data`)]
  if (asked.is === 'gatehouse')
    return [ok(check, `${url} reaches Gatehouse`), ...judgeServerTime(asked.skewMs)]
  if (!isServerAlive)
    return [ok(check, `${url} not checked, because no server is running: ${asked.reason}`)]
  return [
    isBaseUrl
      ? warning(check, `${url} does not reach this server: ${asked.reason}`)
      : warning(
          check,
          `a server is running, but not at ${url}: ${asked.reason}. It may use a different configuration`,
        ),
  ]
}

const judgeServerTime = (skewMs: number): Finding[] =>
  Math.abs(skewMs) > MAX_SKEW_MS
    ? [
        warning(
          'clock',
          `the clock at base_url differs by ${Math.round(skewMs / 1000)} s from this machine: use NTP on both`,
        ),
      ]
    : []
