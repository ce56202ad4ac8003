import type { AnyProvider } from '../../../config/index.ts'
import type { Fields } from '../../../http/body.ts'
import { type Failure, failureOf, statusOf } from '../../../http/errors.ts'
import type { Branding } from '../../../platform/branding/index.ts'
import { AppError, unavailable } from '../../../platform/errors.ts'
import type { TestSignIns } from '../operators/test-sign-ins.ts'
import { type Refused, retryAfter, unlessRefused } from './flow-answers.ts'
import type { Client } from './flows/client.ts'
import type { EnabledMethods } from './flows/enabled-methods.ts'
import { FlowFailure, FlowRefusal, type RefusalId } from './flows/failure.ts'
import type { Answer, Flows } from './flows/index.ts'
import type { NoticePage, Pages } from './flows/pages.ts'
import type { FlowRow } from './flows/store.ts'
import type { Flow, FlowKind, Language } from './model.ts'

interface Sender {
  client: Client
  /** The Set-Cookie header for a browser without our cookie. */
  cookie: string | undefined
}

export type FlowPages = ReturnType<typeof createFlowPages>

/** Flows for browsers: the pages and the navigation between them. Works without scripts. */
export function createFlowPages(parts: {
  flows: Flows
  pages: Pages
  branding: Pick<Branding, 'of' | 'nameOf'>
  urlOf: (kind: FlowKind, query: Record<string, string>) => string
  enabledMethods: Pick<EnabledMethods, 'allowsFlow'>
  testSignIns: Pick<TestSignIns, 'complete'>
  adminSessionOf: (request: Request) => string | undefined
  /** Origins of providers that are reached without https. */
  plainOrigins: () => readonly string[]
}) {
  const { flows, pages, branding, urlOf, enabledMethods, plainOrigins } = parts
  const { testSignIns, adminSessionOf } = parts

  async function show(
    kind: FlowKind,
    id: string,
    { client, cookie, code }: Sender & { code?: string | undefined },
  ): Promise<Response> {
    const answered = await unlessRefused(
      async () => {
        const { row, flow } = await flows.read(kind, id, client, code)
        const next = flows.onward(row)
        if (next) return go(urlOf(next.kind, { flow: next.id }))
        return isOver(row) ? over(row) : page(row, flow, 200)
      },
      (refusal) => refuse(refusal, kind, client, id),
    )
    return remembered(answered, cookie)
  }

  async function branch(kind: FlowKind, from: string, client: Client): Promise<Response> {
    return unlessRefused(
      async () => go(urlOf(kind, { flow: await flows.branch(kind, from, client) })),
      (refusal) => refuse(refusal, kind, client),
    )
  }

  async function submit(
    kind: FlowKind,
    id: string,
    body: Fields,
    { client, cookie }: Sender,
  ): Promise<Response> {
    const answered = await unlessRefused(
      async () =>
        inPages(
          await flows.submit(kind, id, body, client, { caller: undefined, needsToken: true }),
        ),
      (refusal) => refuse(refusal, kind, client),
    )
    return remembered(answered, cookie)
  }

  /**
   * Handles a provider's callback: shows the result on the flow's page, or continues the flow. A test
   * sign-in has no flow.
   */
  async function callback(
    provider: AnyProvider,
    request: Request,
    { client: sender, cookie }: Sender,
  ): Promise<Response> {
    const client = { ...sender, wants: 'page' as const }
    const { searchParams: params } = new URL(request.url)
    const answered = await unlessRefused(
      async () => {
        const tested = await testSignIns.complete(provider, params, () => adminSessionOf(request))
        if (tested !== undefined) return go(tested)
        const answer = await flows.callback(provider, params, client)
        return answer.is === 'failed' ? go(answer.body.hosted_url) : inPages(answer)
      },
      (refusal) => refuse(refusal, 'login', client),
    )
    return remembered(answered, cookie)
  }

  function inPages(answer: Answer): Response {
    const { flow: row } = answer
    if (answer.is === 'redirect') return go(answer.url)
    if (answer.is === 'failed') {
      const shown = page(row, answer.body, answer.status)
      return answer.status === 429 ? later(shown, answer) : shown
    }
    if (answer.next !== undefined) return go(answer.next)
    // Redirects to the section's URL, so that a reload does not submit the form again.
    const section = row.kind === 'settings' && row.active !== null ? `#section-${row.active}` : ''
    return go(urlOf(row.kind, { flow: row.id }) + section)
  }

  const page = (row: FlowRow, flow: Flow, status: number): Response =>
    pages.flow({
      flow: withoutEchoes(flow),
      kind: row.kind,
      status,
      ...lookOf(row),
      language: row.language,
      ...(row.kind === 'settings' && row.returnTo !== null && { backTo: row.returnTo }),
      links: linksFrom(row)
        .filter((kind) => enabledMethods.allowsFlow({ ...row, kind }))
        .map((kind) => ({ kind, url: urlOf(kind, { from: row.id }) })),
      formTargets: [...plainOrigins(), ...plainOrigin(row.returnTo)],
    })

  const lookOf = ({ tenantId }: FlowRow) => ({
    tenantName: branding.nameOf(tenantId),
    branding: branding.of(tenantId),
  })

  const over = (row: FlowRow): Response =>
    pages.notice({
      status: 200,
      language: row.language,
      ...lookOf(row),
      notice: noticeOf(row),
      ...(row.returnTo !== null && { backTo: row.returnTo }),
    })

  function refuse(error: Refused, kind: FlowKind, client: Client, flowId?: string): Response {
    const language: Language = client.language ?? 'en'
    const notice = (
      status: number,
      notice: NoticePage['notice'],
      links: Pick<NoticePage, 'beginAgain'> = {},
    ) => pages.notice({ status, language, tenantName: null, notice, ...links })
    if (error instanceof FlowFailure) return later(notice(429, 'too_many_tries'), error)
    if (!(error instanceof FlowRefusal)) {
      const failure = error instanceof AppError ? failureOf(error) : STORAGE
      const shown = notice(statusOf(failure), noticeOn(failure))
      return PASSING.has(failure.kind) ? later(shown, failure) : shown
    }
    const { redirect_browser_to: url, use_flow_id: next } = error.continuation
    if (url !== undefined) return go(url)
    if (next !== undefined) return go(urlOf(kind, { flow: next }))
    const { id } = error
    if (id === 'other_browser' && kind !== 'settings' && flowId !== undefined)
      return notice(403, id, { beginAgain: urlOf(kind, { from: flowId }) })
    const known = NOTICES[id] ?? FORBIDDEN
    return notice(known.status, known.notice)
  }

  return { show, branch, submit, callback }
}

/** Flows that completed without a sign-in continued in another flow. */
function noticeOf({ kind, state }: FlowRow): NoticePage['notice'] {
  if (state !== 'passed_challenge') return 'flow_expired'
  return kind === 'registration' ? 'signed_up' : 'signed_in'
}

/** Whether the flow has no more forms to show. */
const isOver = ({ completedAt, kind }: FlowRow): boolean =>
  completedAt !== null && (kind === 'login' || kind === 'registration')

const STORAGE = failureOf(unavailable('storage'))

const FORBIDDEN = { status: 403, notice: 'forbidden' } as const
const NOTICES: Partial<Record<RefusalId, Pick<NoticePage, 'status' | 'notice'>>> = {
  flow_not_found: { status: 404, notice: 'flow_unknown' },
  self_service_flow_expired: { status: 410, notice: 'flow_expired' },
  security_csrf_violation: { status: 403, notice: 'failed' },
  session_inactive: { status: 401, notice: 'flow_expired' },
  other_browser: { status: 403, notice: 'other_browser' },
}

/** Links to other flows, per kind of flow. */
const LINKS: Record<FlowKind, FlowKind[]> = {
  login: ['registration', 'recovery'],
  registration: ['login'],
  recovery: ['login'],
  verification: [],
  settings: [],
}

/** Removes messages from the top that are also shown beside a field. */
function withoutEchoes(flow: Flow): Flow {
  const { messages = [], nodes } = flow.ui
  const beside = nodes.flatMap((node) => node.messages.map(({ text }) => text))
  const left = messages.filter(({ text }) => !beside.includes(text))
  return { ...flow, ui: { ...flow.ui, messages: left } }
}

/** Errors that only the operator of the tenant can resolve, not the user of the page. */
const NOT_NOW = new Set([
  'account_suspended',
  'renewal_unpaid',
  'allowance_exhausted',
  'spend_cap_reached',
])

function noticeOn({ code, kind }: Failure): NoticePage['notice'] {
  if (NOT_NOW.has(code)) return 'not_now'
  return kind === 'rate_limited' ? 'too_many_tries' : 'failed'
}

/** Errors that may resolve by waiting. */
const PASSING = new Set<Failure['kind']>(['rate_limited', 'unavailable'])

function later(response: Response, { retryAfterMs }: { retryAfterMs?: number | undefined }) {
  response.headers.set('retry-after', retryAfter(retryAfterMs))
  return response
}

/** A user who waits for a code, or was asked for a second factor, may prefer to start over. */
function linksFrom({ kind, state, sessionId }: FlowRow): FlowKind[] {
  const isInProgress = state === 'sent_email' || sessionId !== null
  return isInProgress && (kind === 'login' || kind === 'registration') ? [kind] : LINKS[kind]
}

const go = (url: string): Response =>
  new Response(null, { status: 303, headers: { location: url } })

function remembered(response: Response, cookie: string | undefined): Response {
  if (cookie !== undefined) response.headers.append('set-cookie', cookie)
  return response
}

const plainOrigin = (url: string | null): string[] =>
  url?.startsWith('http:') ? [new URL(url).origin] : []
