import type { Db } from '../../../../../db/open.ts'
import type { Credentials } from '../../../credentials/index.ts'
import type { Hashing } from '../../../credentials/passwords/hashing.ts'
import type { Asker } from '../../../credentials/passwords/index.ts'
import type { CameBy, SecondFactors } from '../../../credentials/second-factor/index.ts'
import type { IdentityRow } from '../../../identities/store.ts'
import type { Sessions } from '../../../sessions/index.ts'
import type { TenantSettings } from '../../../settings/index.ts'
import type { Store } from '../../../store.ts'
import type { OAuthStates } from '../../social/oauth-states.ts'
import type { AddressProof } from '../address-proof.ts'
import { askerOf } from '../asker.ts'
import type { Client } from '../client.ts'
import type { CodeSteps } from '../code-steps.ts'
import type { Completed, Completion } from '../completion.ts'
import { complain, FlowRefusal, tooSoon } from '../failure.ts'
import type { FlowRepository } from '../flow.ts'
import { addressIn, emailOrNone } from '../identifiers.ts'
import type { Offers } from '../offers.ts'
import type { FlowRow } from '../store.ts'
import type { Submission } from '../submission.ts'
import type { Throttle } from '../throttle.ts'
import {
  codeLogin,
  codeLoginSent,
  identifierNode,
  lookupLogin,
  type MessageId,
  passwordLogin,
  type Say,
  socialButtons,
  totpLogin,
} from '../ui/index.ts'
import { bringsCode, type Kind, type Method, methodIn, type Outcome, providerIn } from './kind.ts'

/** Sign-in: contract/gate, self-service flows. */
export function createLogin(parts: {
  db: Db
  store: Store
  settings: TenantSettings
  repository: FlowRepository
  codeSteps: CodeSteps
  completion: Completion
  proof: AddressProof
  sessions: Sessions
  credentials: Credentials
  secondFactors: SecondFactors
  hashing: Hashing
  throttle: Throttle
  offers: Offers
  oauthStates: OAuthStates
}): Kind {
  const { db, store, repository, codeSteps, completion, credentials, secondFactors } = parts
  const { proof, sessions, hashing, throttle, offers, oauthStates } = parts

  function nodes(flow: FlowRow, say: Say) {
    if (flow.requestedAal === 'aal2') return secondFactorNodes(flow, say)
    if (flow.state === 'sent_email' && offers.byCode(flow))
      return codeLoginSent(say, { identifier: flow.address ?? '' })
    const person = personOf(flow)
    return [
      identifierNode(say, {
        ...(person && { value: person.email }),
        isHidden: flow.isRefresh,
      }),
      ...passwordLogin(say, { isRefresh: flow.isRefresh }),
      ...(offers.byCode(flow) ? codeLogin(say) : []),
      ...socialButtons(say, 'login', offers.providers(flow)),
    ]
  }

  const secondFactorNodes = (flow: FlowRow, say: Say) => {
    const person = personOf(flow)
    return [
      ...totpLogin(say),
      ...(person && secondFactors.hasCodes(person) ? lookupLogin(say) : []),
    ]
  }

  /** The identity that the flow is for; undefined before the first factor. */
  const personOf = ({ tenantId, identityId }: FlowRow): IdentityRow | undefined =>
    identityId === null ? undefined : store.identities.find(tenantId, identityId)

  async function submit(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    if (flow.sessionId !== null && !sessions.alive(flow.tenantId, flow.sessionId))
      throw new FlowRefusal('session_inactive', 'the session of this flow has ended')
    switch (methodIn(input, 'login', offeredBy(flow))) {
      case 'password':
        return byPassword(flow, input, client)
      case 'code':
        return bringsCode(flow, input) ? byCode(flow, input, client) : sendCode(flow, input, client)
      case 'totp':
        return bySecondFactor(flow, 'totp', input.required('totp_code'), client)
      case 'lookup_secret':
        return bySecondFactor(flow, 'lookup_secret', input.required('lookup_secret'), client)
      default:
        return oauthStates.begin(flow, {
          provider: providerIn(input, 'provider', offers.providers(flow)),
          input,
          client,
        })
    }
  }

  const offeredBy = (flow: FlowRow): Method[] =>
    flow.requestedAal === 'aal2'
      ? ['totp', 'lookup_secret']
      : ['password', 'oidc', ...(offers.byCode(flow) ? (['code'] as const) : [])]

  async function byPassword(flow: FlowRow, input: Submission, client: Client): Promise<Completed> {
    const identifier = flow.isRefresh ? (personOf(flow)?.email ?? '') : identifierIn(input)
    const password = input.required('password')
    const email = emailOrNone(identifier)
    const asker = askerOf(flow, client)
    const guess = {
      tenantId: flow.tenantId,
      purpose: 'sign-in',
      identifier: email ?? identifier,
    } as const
    return throttle.guarded(guess, client, async () => {
      const person =
        email === undefined ? undefined : store.identities.byEmail(flow.tenantId, email)
      const stored = person && credentials.passwordOf(person)
      if (!person || stored === undefined) {
        await hashing.verifyNobody(asker, password)
        throw complain(4000006)
      }
      if (!(await hashing.verify(asker, password, stored))) throw complain(4000006)
      const renewed = await renewedHash(asker, password, stored)
      return db.commitFor(flow.tenantId, () => {
        const current = store.identities.find(flow.tenantId, person.id)
        if (!current || credentials.passwordOf(current) !== stored) throw complain(4000006)
        if (renewed !== undefined) credentials.setPassword(current, renewed)
        return completion.signIn(
          repository.open(flow.id),
          current,
          { method: 'password', aal: 'aal1' },
          client,
        )
      })
    })
  }

  /**
   * Rehashes passwords that were imported or hashed at another cost, while the password is known.
   */
  const renewedHash = (
    asker: Asker,
    password: string,
    stored: string,
  ): Promise<string | undefined> =>
    hashing.needsRehash(stored)
      ? hashing.hash(asker, password).catch(() => undefined)
      : Promise.resolve(undefined)

  async function sendCode(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    const address = flow.isRefresh
      ? (personOf(flow)?.email ?? '')
      : input.has('identifier')
        ? addressIn(input, 'identifier')
        : (flow.address ?? addressIn(input, 'identifier'))
    throttle.counted(client)
    return codeSteps.sendToHolder(flow, {
      address,
      client,
      letter: (mailTemplates, about) => mailTemplates.loginCode(about),
    })
  }

  const byCode = (flow: FlowRow, input: Submission, client: Client): Promise<Completed> =>
    codeSteps.redeemOwn(flow, { input, client }, (current, person) =>
      completion.signIn(
        current,
        proveAddress(current, person),
        { method: 'code', aal: 'aal1' },
        client,
      ),
    )

  /** A signed-in user who also controls the mailbox is the one who created the account. */
  function proveAddress(flow: FlowRow, person: IdentityRow): IdentityRow {
    if (flow.sessionId === null) return completion.proveByMailbox(person)
    proof.prove(person)
    return person
  }

  function bySecondFactor(
    flow: FlowRow,
    method: 'totp' | 'lookup_secret',
    typed: string,
    client: Client,
  ): Promise<Completed> {
    return throttle.watched(client, () => answerSecondFactor(flow, method, typed, client))
  }

  async function answerSecondFactor(
    flow: FlowRow,
    method: 'totp' | 'lookup_secret',
    typed: string,
    client: Client,
  ): Promise<Completed> {
    const accept = method === 'totp' ? secondFactors.acceptTotp : secondFactors.acceptCode
    // The result is returned, not thrown, so that the attempt it counted is stored.
    const result = await db.commitFor(flow.tenantId, () => {
      const current = repository.open(flow.id)
      const person = personOf(current)
      if (!person) return { is: undefined, verdict: 'wrong' as const, waitMs: 0 }
      const by = cameBy(current)
      const verdict = accept(person, typed, by)
      if (verdict !== 'right')
        return { is: undefined, verdict, waitMs: secondFactors.blockedMs(person, by) }
      return completion.signIn(current, person, { method, aal: 'aal2' }, client)
    })
    if (result.is === 'signed_in') return result
    const field = method === 'totp' ? 'totp_code' : 'lookup_secret'
    if (result.verdict === 'blocked') throw tooSoon(result.waitMs, field)
    throw complain(COMPLAINTS[method][result.verdict], { field })
  }

  const cameBy = ({ tenantId, sessionId }: FlowRow): CameBy =>
    sessionId !== null && sessions.isByMailbox(tenantId, sessionId) ? 'mailbox' : 'other'

  return { nodes, submit }
}

const COMPLAINTS: Record<'totp' | 'lookup_secret', Record<'wrong' | 'used', MessageId>> = {
  totp: { wrong: 4000008, used: 4000008 },
  lookup_secret: { wrong: 4000016, used: 4000012 },
}

/** Some front ends still send the field's old name. */
const identifierIn = (input: Submission): string =>
  input.text('identifier') ?? input.text('password_identifier') ?? input.required('identifier')
