import type { AnyProvider } from '../../../../config/index.ts'
import type { Caller } from '../../../../platform/caller.ts'
import type { SignInEvents } from '../../metrics.ts'
import type { ContinueWith, Flow, FlowKind, SignedIn } from '../model.ts'
import type { SocialCallback } from '../social/callback.ts'
import type { Claims } from './claims.ts'
import type { Client } from './client.ts'
import type { Completed } from './completion.ts'
import type { EnabledMethods } from './enabled-methods.ts'
import type { createExchange } from './exchange.ts'
import { FLOW_NOT_FOUND, FlowFailure, FlowRefusal } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { Kind, Outcome } from './kinds/kind.ts'
import type { PresentFlow } from './present.ts'
import type { createStart } from './start.ts'
import type { FlowRow } from './store.ts'
import { createSubmission } from './submission.ts'

/** The result of a form, before it becomes a response. */
export type Answer =
  | { is: 'signed_in'; flow: FlowRow; body: SignedIn; next: string | undefined }
  | { is: 'flow'; flow: FlowRow; body: Flow; next: string | undefined }
  | { is: 'redirect'; flow: FlowRow; url: string }
  | { is: 'failed'; flow: FlowRow; body: Flow; status: 422 | 429; retryAfterMs: number | undefined }

export type Flows = ReturnType<typeof createFlows> &
  ReturnType<typeof createStart> & { exchange: ReturnType<typeof createExchange> }

/** Self-service flows once they have started: how they are read and submitted. contract/gate. */
export function createFlows(parts: {
  repository: FlowRepository
  kinds: Record<FlowKind, Kind>
  claims: Claims
  present: PresentFlow
  enabledMethods: EnabledMethods
  socialCallback: SocialCallback
  signIns: SignInEvents
}) {
  const { repository, kinds, claims, present, enabledMethods, socialCallback, signIns } = parts

  /** Reads a flow by id. Throws `FlowRefusal`. */
  async function read(
    kind: FlowKind,
    id: string,
    client: Client,
    code?: string,
  ): Promise<{ row: FlowRow; flow: Flow }> {
    const row = await claims.toRead(existing(kind, id), client)
    return { row, flow: present(row, { code, client }) }
  }

  function existing(kind: FlowKind, id: string, caller?: Caller): FlowRow {
    const row = repository.find(id)
    const isTheirs = caller === undefined || caller.tenantId === row?.tenantId
    if (row?.kind !== kind || !isTheirs || !enabledMethods.allowsFlow(row)) throw FLOW_NOT_FOUND
    return row
  }

  /** Handles a submitted form. With a `caller`, only for flows of that tenant. */
  async function submit(
    kind: FlowKind,
    id: string,
    body: Record<string, unknown>,
    client: Client,
    { caller, needsToken }: { caller: Caller | undefined; needsToken: boolean },
  ): Promise<Answer> {
    const found = existing(kind, id, caller)
    if (needsToken) requireCsrfToken(found, body.csrf_token, client)
    const input = createSubmission(body)
    const { flow, session } = await claims.toSubmit(found, client)
    try {
      if (flow.completedAt !== null) repository.requireOpen(flow)
      const submitted = () => kinds[kind].submit({ flow, input, client, session })
      return answerTo(flow, client, await signIns.counted(kind, input, submitted))
    } catch (error) {
      if (!(error instanceof FlowFailure)) throw error
      const current = repository.find(flow.id) ?? flow
      const failed = { ...current, notices: null, language: flow.language }
      const { fieldErrors, status, retryAfterMs } = error
      const shown = present(failed, { fieldErrors, typed: input, client })
      return { is: 'failed', flow: failed, body: shown, status, retryAfterMs }
    }
  }

  function requireCsrfToken(row: FlowRow, given: unknown, { wants, browserHash }: Client) {
    const owner = wants === 'page' ? browserHash : null
    if (typeof given !== 'string' || !repository.isCsrfToken(row, owner, given))
      throw new FlowRefusal(
        'security_csrf_violation',
        'csrf_token: is missing, or belongs to another flow',
      )
  }

  /** Handles a browser that returns from a provider. Never throws `FlowFailure`. */
  async function callback(
    provider: AnyProvider,
    params: URLSearchParams,
    client: Client,
  ): Promise<Answer> {
    const { flow, complete } = await socialCallback(provider, params, client)
    try {
      return answerTo(flow, client, await signIns.counted(flow.kind, 'oidc', complete))
    } catch (error) {
      if (!(error instanceof FlowFailure)) throw error
      return showLater(flow, error)
    }
  }

  /** Stores errors for the page of the flow, where the browser goes next. */
  async function showLater(row: FlowRow, { fieldErrors, status }: FlowFailure): Promise<Answer> {
    const notices = fieldErrors.map(({ id, context }) => ({ id, context }))
    const flow = await repository.revise(row, (current) =>
      current.completedAt !== null || repository.isExpired(current)
        ? claims.succeed(current, notices)
        : repository.save(current, { notices: JSON.stringify(notices) }),
    )
    return { is: 'failed', flow, body: present(flow, {}), status, retryAfterMs: undefined }
  }

  function answerTo(row: FlowRow, client: Client, outcome: Outcome): Answer {
    if (outcome.is === 'redirect') return { ...outcome, flow: row }
    if (outcome.is === 'signed_in')
      return { is: 'signed_in', flow: row, body: signedIn(row, outcome), next: outcome.next }
    const { flow, continueWith, next } = outcome
    const body = present(flow, { client, ...(continueWith && { continueWith }) })
    return { is: 'flow', flow, body, next }
  }

  /** The flow that continues a completed one. */
  function onward({ completedAt, nextFlowId }: FlowRow): FlowRow | undefined {
    if (completedAt === null || nextFlowId === null) return undefined
    const next = repository.find(nextFlowId)
    return next && !repository.isExpired(next) ? next : undefined
  }

  return { read, submit, callback, onward }
}

function signedIn({ kind }: FlowRow, outcome: Completed): SignedIn {
  const { token = '', session, owesSecondFactor, continueWith } = outcome
  const withToken: ContinueWith[] = [
    { action: 'set_ory_session_token', ory_session_token: token },
    ...continueWith,
  ]
  return {
    session_token: token,
    session: { ...session, token, identity: owesSecondFactor ? null : session.identity },
    ...(kind === 'registration' && { identity: session.identity }),
    continue_with: token === '' ? continueWith : withToken,
  }
}
