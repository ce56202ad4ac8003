import type { Clock } from '../../../../platform/clock.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { AssuranceLevel, SessionDetail } from '../../sessions/model.ts'
import type { SignIns } from '../../sessions/sign-ins.ts'
import type { Events } from '../../webhooks/events.ts'
import type { ContinueWith } from '../model.ts'
import type { Linking } from '../social/linking.ts'
import type { AddressProof } from './address-proof.ts'
import { type Client, deviceOf } from './client.ts'
import { newExchangeCode } from './exchange.ts'
import { FlowRefusal, fieldError } from './failure.ts'
import type { FlowRepository, PendingAccount } from './flow.ts'
import { withQuery } from './return-to.ts'
import type { FlowRow } from './store.ts'

/** The proof of identity that a user has just given. */
export interface Proof {
  method: 'password' | 'code' | 'oidc' | 'totp' | 'lookup_secret'
  aal: AssuranceLevel
  provider?: string
}

/** The result of a sign-in that is complete, or that still requires a second factor. */
export interface Completed {
  is: 'signed_in'
  /** Undefined if the session already existed, because its token is not stored. */
  token: string | undefined
  session: SessionDetail
  /** Whether the session is not usable before the second factor. */
  owesSecondFactor: boolean
  continueWith: ContinueWith[]
  /** Where a browser continues; undefined for a program. */
  next: string | undefined
}

/** Where a completed flow leads, and the columns that lead there. */
interface Destination {
  next: string | undefined
  columns?: Partial<FlowRow>
}

type Opened = Pick<Completed, 'token' | 'session'>

export type Completion = ReturnType<typeof createCompletion>

/** Completes every kind of sign-in, always within the commit that checked the proof. */
export function createCompletion(parts: {
  clock: Clock
  repository: FlowRepository
  sessions: Sessions
  signIns: SignIns
  linking: Linking
  addressProof: AddressProof
  events: Events
  /** The hosted page of a flow. */
  hostedUrl: (flow: FlowRow) => string
}) {
  const { clock, repository, sessions, signIns, linking, addressProof, events, hostedUrl } = parts

  /** Signs in an existing identity: creates a session or raises its level. */
  function signIn(flow: FlowRow, person: IdentityRow, proof: Proof, client: Client): Completed {
    if (person.state === 'inactive') {
      signIns.failed(person, { ...proof, ...deviceOf(client) }, 'inactive')
      throw fieldError(4010011)
    }
    if (flow.identityId !== null && flow.identityId !== person.id) throw fieldError(4000006)
    const { owedBefore, ...opened } =
      flow.sessionId === null
        ? { ...open(person, proof, client), owedBefore: true }
        : strengthen(flow.sessionId, person, proof, client)
    if (sessions.isOwedBy(person, opened.session.authenticator_assurance_level))
      return askForSecondFactor(flow, person, { ...opened, proof }, client)
    if (owedBefore) {
      signIns.succeeded(person, { ...proof, ...deviceOf(client) })
      publishLogin(person)
    }
    return finish(flow, person, { ...opened, proof }, client)
  }

  const open = (person: IdentityRow, proof: Proof, client: Client): Opened =>
    sessions.open(person, { assuranceLevel: proof.aal, methods: [proof], ...deviceOf(client) })

  /** `owedBefore` is whether the session was unusable until now. */
  function strengthen(id: string, person: IdentityRow, proof: Proof, client: Client) {
    const row = sessions.alive(person.tenantId, id)
    if (!row) throw new FlowRefusal('session_inactive', 'the session of this flow has ended')
    const owedBefore = sessions.owes(row)
    return { token: client.sessionToken, session: sessions.strengthen(row, proof), owedBefore }
  }

  /** Completes a registration: signs the new identity in. */
  function signUp(flow: FlowRow, person: IdentityRow, proof: Proof, client: Client): Completed {
    signIns.succeeded(person, { ...proof, ...deviceOf(client) })
    return finish(flow, person, { ...open(person, proof, client), proof }, client)
  }

  /**
   * Completes this flow and starts another one for the second factor, which is also where a browser
   * continues that returns to this form.
   */
  function askForSecondFactor(
    flow: FlowRow,
    person: IdentityRow,
    { proof, ...opened }: Opened & { proof: Proof },
    { wants, browserHash }: Client,
  ): Completed {
    const second = repository.begin({
      tenantId: flow.tenantId,
      kind: 'login',
      language: flow.language,
      identityId: person.id,
      sessionId: opened.session.id,
      requestedAal: 'aal2',
      returnTo: flow.returnTo,
      nextFlowId: flow.nextFlowId,
      browserHash: wants === 'page' ? browserHash : null,
      internal: { pendingAccount: pendingOf(flow, person) },
    })
    repository.complete(flow, { active: proof.method, nextFlowId: second.id })
    const next = hostedUrl(second)
    return {
      is: 'signed_in',
      ...opened,
      owesSecondFactor: true,
      continueWith: [{ action: 'redirect_browser_to', redirect_browser_to: next }],
      next,
    }
  }

  /** The pending social account that waits for its holder to sign in. */
  const pendingOf = (flow: FlowRow, { id }: IdentityRow): PendingAccount | undefined =>
    flow.identityId === id ? repository.internalOf(flow).pendingAccount : undefined

  function finish(
    flow: FlowRow,
    person: IdentityRow,
    { proof, ...opened }: Opened & { proof: Proof },
    client: Client,
  ): Completed {
    const pending = pendingOf(flow, person)
    if (pending) linking.link(person, pending)
    const { next, columns } = destinationOf(flow, person, opened.session.id, client)
    repository.complete(flow, { state: 'passed_challenge', active: proof.method, ...columns })
    return { is: 'signed_in', ...opened, owesSecondFactor: false, continueWith: [], next }
  }

  /** After a complete sign-in, leads to the flow that required it, the app or the account page. */
  function destinationOf(
    flow: FlowRow,
    person: IdentityRow,
    sessionId: string,
    client: Client,
  ): Destination {
    const nextFlow = flow.nextFlowId === null ? undefined : repository.find(flow.nextFlowId)
    if (nextFlow?.kind === 'verification') addressProof.resume(nextFlow, person)
    if (nextFlow) return { next: hostedUrl(nextFlow) }
    if (client.wants === 'json') return { next: undefined }
    if (flow.returnTo === null) return { next: accountPage(flow, person, sessionId, client) }
    return handOver(flow, flow.returnTo, sessionId)
  }

  /** The settings flow after a sign-in, bound to this browser. Its page names the account. */
  function accountPage(
    { tenantId, kind, language }: FlowRow,
    person: IdentityRow,
    sessionId: string,
    { browserHash }: Client,
  ): string {
    const id = kind === 'registration' ? 1900013 : 1900012
    const settings = repository.begin({
      tenantId,
      kind: 'settings',
      language,
      identityId: person.id,
      sessionId,
      browserHash,
      notices: [{ id, context: { address: person.email } }],
    })
    return hostedUrl(settings)
  }

  /** Gives the browser a code that works once, and never the token. */
  function handOver({ id }: FlowRow, returnTo: string, sessionId: string): Destination {
    const { code, columns } = newExchangeCode(clock.now())
    return {
      next: withQuery(returnTo, { flow: id, code }),
      columns: { exchangeSessionId: sessionId, ...columns },
    }
  }

  const publishLogin = ({ tenantId, id, email }: IdentityRow) =>
    events(tenantId, { type: 'identity.login', identityId: id, payload: { email } }, clock.now())

  return { signIn, signUp }
}
