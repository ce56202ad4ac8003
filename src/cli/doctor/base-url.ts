import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Config } from '../../config/index.ts'
import { messageOf } from '../../db/errors.ts'
import { localUrl } from '../../http/urls.ts'
import { createBoundedFetch, FetchFailure } from '../../platform/bounded-fetch.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Finding, ok, warning } from './finding.ts'
import { isAboutCertificate } from './words.ts'

const LONGEST_MS = 5000
const MOST_SKEW_MS = 30_000
const LARGEST_BODY_BYTES = 64 * 1024

/** What came of asking an address whether Gatehouse is there. */
export type Asked = { url: string } & (
  | { is: 'gatehouse'; skewMs: number; installation: string | undefined }
  | { is: 'other'; reason: string }
)

export interface AskOptions {
  /** Roots trusted beside the usual ones, PEM. */
  ca?: string[]
  timeoutMs?: number
}

/** The address people use, else the one listened on; nobody knows the port that 0 gave. */
export const addressOf = ({ server }: Pick<Config, 'server'>): string | undefined =>
  server.baseUrl ?? (server.port === 0 ? undefined : localUrl(server))

/**
 * Asks `/healthz` there, whose answer tells Gatehouse from other servers, and one installation from
 * another. Never throws.
 */
export async function ask(
  url: string,
  { ca, timeoutMs = LONGEST_MS }: AskOptions = {},
): Promise<Asked> {
  const fetchBounded = createBoundedFetch({
    clock: systemClock,
    timeoutMs,
    maxBodyBytes: LARGEST_BODY_BYTES,
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
  if (status >= 500) return `answers ${status}: the proxy there does not reach the server`
  if (status === 404) return 'answers 404: another server, or a path that the proxy cuts off'
  if (status !== 200) return `answers ${status}: another server, or a proxy that asks for a login`
  const isPage = /html/i.test(headers.get('content-type') ?? '') || /^\s*</.test(text)
  return isPage ? 'answers with a page: another server is there' : 'answers, but not as Gatehouse'
}

function reasonFor(error: unknown): string {
  const message = messageOf(error)
  if (!(error instanceof FetchFailure)) return message
  if (error.reason === 'redirect') return `${message}: write the address it leads to`
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return `${message}: the name is not in DNS`
  if (isAboutCertificate(message)) return `${message}: the certificate is not trusted`
  return message
}

/** Beyond the time that the call itself took. */
export function skewOf(date: string | null, sentAt: number, receivedAt: number): number {
  const there = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(there) || (there >= sentAt - 1000 && there <= receivedAt)) return 0
  return there < sentAt ? there - sentAt : there - receivedAt
}

export interface Circumstances {
  isServerAlive: boolean
  /** Whether somebody has set it, or it is the address listened on. */
  isBaseUrl: boolean
  /** What the answer of this installation says of itself, where that is known. */
  mark: string | undefined
}

/** Without a server nobody answers anywhere, and nothing follows from it. */
export function judgeAsked(
  asked: Asked,
  { isServerAlive, isBaseUrl, mark }: Circumstances,
): Finding[] {
  const check = 'base_url'
  const { url } = asked
  if (asked.is === 'gatehouse' && mark && asked.installation && asked.installation !== mark)
    return [warning(check, `${url} leads to another installation of Gatehouse, with other data`)]
  if (asked.is === 'gatehouse')
    return [ok(check, `${url} answers as Gatehouse`), ...judgeServerTime(asked.skewMs)]
  if (!isServerAlive) return [ok(check, `${url} not judged, as no server runs: ${asked.reason}`)]
  return [
    isBaseUrl
      ? warning(check, `${url} does not lead here: ${asked.reason}`)
      : warning(
          check,
          `a server runs, but not at ${url}: ${asked.reason}; does it have another configuration?`,
        ),
  ]
}

const judgeServerTime = (skewMs: number): Finding[] =>
  Math.abs(skewMs) > MOST_SKEW_MS
    ? [
        warning(
          'clock',
          `base_url is ${Math.round(skewMs / 1000)} s away from this machine: set both by NTP`,
        ),
      ]
    : []
