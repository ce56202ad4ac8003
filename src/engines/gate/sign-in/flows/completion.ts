import type { Audit } from '../../../../platform/audit/index.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'
import type { Credentials } from '../../credentials/index.ts'
import type { People } from '../../identities/people.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { AssuranceLevel, SessionDetail } from '../../sessions/model.ts'
import type { Store } from '../../store.ts'
import type { Events } from '../../webhooks/events.ts'
import type { ContinueWith } from '../model.ts'
import type { Linking } from '../social/linking.ts'
import { byThemselves } from './actor.ts'
import type { AddressProof } from './address-proof.ts'
import { type Client, deviceOf } from './client.ts'
import { complain, FlowRefusal } from './failure.ts'
import type { FlowRepository, PendingAccount } from './flow.ts'
import { withQuery } from './return-to.ts'
import type { FlowRow } from './store.ts'

/** How long a tenant can exchange the code for the session, in milliseconds. */
export const EXCHANGE_MS = 5 * MINUTE_MS

/** The proof of identity that a user has just given. */
export interface Proof {
  method: 'password' | 'code' | 'oidc' | 'totp' | 'lookup_secret'
  aal: AssuranceLevel
  provider?: string
}

/** The result of a sign-in that is complete, or that still requires a second factor. */
export interface Completed {
  is: 'signed_in'
  person: IdentityRow
  /** Undefined if the session already existed, because its token is not stored. */
  token: string | undefined
  session: SessionDetail
  /** Whether the session is not usable before the second factor. */
  owesSecondFactor: boolean
  continueWith: ContinueWith[]
  /** Where a browser continues; undefined for a program. */
  next: string | undefined
}

/** An identity and the proof given so far. */
interface SoFar {
  token: string | undefined
  session: SessionDetail
  proof: Proof
}

export type Completion = ReturnType<typeof createCompletion>

/** Completes every kind of sign-in, always within the commit that checked the proof. */
export function createCompletion(parts: {
  store: Store
  clock: Clock
  audit: Audit
  people: People
  repository: FlowRepository
  sessions: Sessions
  credentials: Credentials
  linking: Linking
  proof: AddressProof
  events: Events
  /** The hosted page of a flow. */
  hostedUrl: (flow: FlowRow) => string
}) {
  const { store, clock, audit, people, repository, sessions, credentials } = parts
  const { linking, proof, events, hostedUrl } = parts

  /** Signs in an existing identity: creates a session or raises its level. */
  function signIn(flow: FlowRow, person: IdentityRow, proof: Proof, client: Client): Completed {
    if (person.state === 'inactive') throw complain(4010011)
    if (flow.identityId !== null && flow.identityId !== person.id) throw complain(4000006)
    return flow.sessionId === null
      ? begin(flow, person, proof, client)
      : strengthen(flow, flow.sessionId, person, proof, client)
  }

  function begin(flow: FlowRow, person: IdentityRow, proof: Proof, client: Client): Completed {
    const { token, session } = opened(person, proof, client)
    if (isOwed(person, session)) return asked(flow, person, { token, session, proof }, client)
    tellOfLogin(person)
    return finished(flow, person, { token, session, proof }, client)
  }

  function strengthen(
    flow: FlowRow,
    sessionId: string,
    person: IdentityRow,
    proof: Proof,
    client: Client,
  ): Completed {
    const row = sessions.alive(person.tenantId, sessionId)
    if (!row) throw new FlowRefusal('session_inactive', 'the session of this flow has ended')
    const owedBefore = sessions.owes(row)
    const session = sessions.strengthen(row, proof)
    const token = client.sessionToken
    if (isOwed(person, session)) return asked(flow, person, { token, session, proof }, client)
    if (owedBefore) tellOfLogin(person)
    return finished(flow, person, { token, session, proof }, client)
  }

  const opened = (person: IdentityRow, proof: Proof, client: Client) =>
    sessions.open(person, { assuranceLevel: proof.aal, methods: [proof], ...deviceOf(client) })

  const isOwed = (person: IdentityRow, session: SessionDetail): boolean =>
    sessions.owes(sessionRow(person, session))

  /** Completes a registration: signs the new identity in. */
  function signUp(flow: FlowRow, person: IdentityRow, proof: Proof, client: Client): Completed {
    return finished(flow, person, { ...opened(person, proof, client), proof }, client)
  }

  /** Requires a second factor: completes this flow and starts another one for it. */
  function asked(flow: FlowRow, person: IdentityRow, so: SoFar, client: Client): Completed {
    const { wants, browserHash } = client
    const second = repository.begin({
      tenantId: flow.tenantId,
      kind: 'login',
      language: flow.language,
      identityId: person.id,
      sessionId: so.session.id,
      requestedAal: 'aal2',
      returnTo: flow.returnTo,
      nextFlowId: flow.nextFlowId,
      browserHash: wants === 'page' ? browserHash : null,
      internal: { pendingAccount: pendingOf(flow, person) },
    })
    // Leads the browser on if it returns to the previous form.
    repository.save(flow, { nextFlowId: second.id })
    return ended(flow, person, { ...so, owesSecondFactor: true, next: hostedUrl(second) })
  }

  /** The pending social account that waits for its holder to sign in. */
  const pendingOf = (flow: FlowRow, { id }: IdentityRow): PendingAccount | undefined =>
    flow.identityId === id ? repository.internalOf(flow).pendingAccount : undefined

  /**
   * Sends the browser on after a complete sign-in: to the flow that required it, back to the app
   * or, if there is none, to the account page.
   */
  function finished(flow: FlowRow, person: IdentityRow, so: SoFar, client: Client): Completed {
    const of = { ...so, owesSecondFactor: false }
    const pending = pendingOf(flow, person)
    if (pending) linking.link(person, pending)
    const nextFlow = flow.nextFlowId === null ? undefined : store.flows.find(flow.nextFlowId)
    if (nextFlow?.kind === 'verification') proof.resume(nextFlow, person)
    if (nextFlow) return ended(flow, person, { ...of, next: hostedUrl(nextFlow) })
    if (client.wants === 'json') return ended(flow, person, { ...of, next: undefined })
    const next =
      flow.returnTo === null
        ? accountPage(flow, person, so.session.id, client)
        : handOver(flow, so.session.id)
    return ended(flow, person, { ...of, next })
  }

  /**
   * The settings flow of the user who just signed in, bound to this browser. Its page names the
   * account.
   */
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
  function handOver(flow: FlowRow, sessionId: string): string {
    const code = mintSecret()
    repository.save(flow, {
      exchangeSessionId: sessionId,
      exchangeHash: sha256(code),
      exchangeExpiresAt: clock.now() + EXCHANGE_MS,
    })
    return withQuery(flow.returnTo as string, { flow: flow.id, code })
  }

  function ended(
    flow: FlowRow,
    person: IdentityRow,
    { proof, ...of }: SoFar & Pick<Completed, 'owesSecondFactor' | 'next'>,
  ): Completed {
    const current = store.flows.find(flow.id) ?? flow
    const state = of.owesSecondFactor ? current.state : 'passed_challenge'
    repository.complete(current, { state, active: proof.method })
    const continueWith: ContinueWith[] =
      of.owesSecondFactor && of.next !== undefined
        ? [{ action: 'redirect_browser_to', redirect_browser_to: of.next }]
        : []
    return { is: 'signed_in', person, continueWith, ...of }
  }

  function tellOfLogin({ tenantId, id, email }: IdentityRow) {
    events(tenantId, { type: 'identity.login', identityId: id, payload: { email } }, clock.now())
  }

  /**
   * Accepts proof of access to the mailbox. If the address was never verified, someone else may have
   * created the account, so all credentials are removed and they cannot come back.
   */
  function proveByMailbox(person: IdentityRow): IdentityRow {
    if (proof.isProven(person)) return person
    credentials.removeAll(person)
    audit.record({
      tenantId: person.tenantId,
      actor: byThemselves(person),
      action: 'identity.credentials_wiped',
      object: `identity:${person.id}`,
    })
    proof.prove(person)
    return people.endAccess(person)
  }

  const sessionRow = ({ tenantId }: IdentityRow, { id }: SessionDetail) =>
    store.sessions.byId(tenantId, id) as NonNullable<ReturnType<typeof store.sessions.byId>>

  return { signIn, signUp, proveByMailbox }
}
