import type { Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../platform/crypto.ts'
import type { Credentials } from '../credentials.ts'
import type { Events } from '../events.ts'
import type { ContinueWith } from '../model/flows.ts'
import type { AssuranceLevel, SessionDetail } from '../model/sessions.ts'
import type { People } from '../people.ts'
import type { Sessions } from '../sessions.ts'
import type { Linking } from '../social/linking.ts'
import type { FlowRow } from '../store/flows.ts'
import type { IdentityRow } from '../store/identities.ts'
import type { Store } from '../store/index.ts'
import { byThemselves } from './actor.ts'
import type { AddressProof } from './address-proof.ts'
import { type Client, deviceOf } from './client.ts'
import { complain, FlowRefusal } from './failure.ts'
import type { FlowKeeper, PendingAccount } from './flow.ts'
import { withQuery } from './return-to.ts'

/** How long the code is good that a tenant exchanges for the session. */
export const EXCHANGE_MS = 5 * 60_000

/** How somebody has just shown who they are. */
export interface Proof {
  method: 'password' | 'code' | 'oidc' | 'totp' | 'lookup_secret'
  aal: AssuranceLevel
  provider?: string
}

/** Somebody is signed in, or on the way there. */
export interface Completed {
  is: 'signed_in'
  person: IdentityRow
  /** Undefined where the session is one that began earlier and nobody has told its token. */
  token: string | undefined
  session: SessionDetail
  /** No session to be relied on yet. */
  owesSecondFactor: boolean
  continueWith: ContinueWith[]
  /** Where a browser goes on; undefined for a program. */
  next: string | undefined
}

/** Somebody, as far as they have shown who they are. */
interface SoFar {
  token: string | undefined
  session: SessionDetail
  proof: Proof
}

export type Completion = ReturnType<typeof createCompletion>

/** The end of a sign-in, whichever way it was: always within the commit that checked the proof. */
export function createCompletion(parts: {
  store: Store
  clock: Clock
  audit: Audit
  people: People
  keeper: FlowKeeper
  sessions: Sessions
  credentials: Credentials
  linking: Linking
  proof: AddressProof
  events: Events
  /** The page of a flow. */
  hostedUrl: (flow: FlowRow) => string
}) {
  const { store, clock, audit, people, keeper, sessions, credentials } = parts
  const { linking, proof, events, hostedUrl } = parts

  /** A sign-in of somebody known: a new session, or a stronger one. */
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

  /** A sign-up: whoever has just become known is signed in at once. */
  function signUp(flow: FlowRow, person: IdentityRow, proof: Proof, client: Client): Completed {
    return finished(flow, person, { ...opened(person, proof, client), proof }, client)
  }

  /** One factor is not enough: the flow is over, and another one asks for the second. */
  function asked(flow: FlowRow, person: IdentityRow, so: SoFar, client: Client): Completed {
    const { wants, browserHash } = client
    const second = keeper.begin({
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
    // Whoever goes back to the form before is led on.
    keeper.save(flow, { nextFlowId: second.id })
    return ended(flow, person, { ...so, owesSecondFactor: true, next: hostedUrl(second) })
  }

  /** An account that waits for its holder, and for nobody else, to show who they are. */
  const pendingOf = (flow: FlowRow, { id }: IdentityRow): PendingAccount | undefined =>
    flow.identityId === id ? keeper.internalOf(flow).pendingAccount : undefined

  /**
   * Who they are is beyond doubt: a browser goes on to what asked for it, back to the app, or, with
   * no app to go back to, to the person's account.
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

  /** The settings of whoever has just signed in, for this browser alone. It says whose they are. */
  function accountPage(
    { tenantId, kind, language }: FlowRow,
    person: IdentityRow,
    sessionId: string,
    { browserHash }: Client,
  ): string {
    const id = kind === 'registration' ? 1900013 : 1900012
    const settings = keeper.begin({
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

  /** The browser takes a code along that is good once, and never the token. */
  function handOver(flow: FlowRow, sessionId: string): string {
    const code = mintSecret()
    keeper.save(flow, {
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
    keeper.complete(current, { state, active: proof.method })
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
   * Somebody has shown that a mailbox is theirs, and nothing else. Where the address was never
   * proven, whoever made the account may have been somebody else: all that they have left there is
   * taken away, so that they cannot come back by it.
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
