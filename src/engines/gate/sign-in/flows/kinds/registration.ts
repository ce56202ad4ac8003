import type { Config } from '../../../../../config/index.ts'
import type { Db } from '../../../../../db/open.ts'
import type { Credentials } from '../../../credentials/index.ts'
import type { Hashing } from '../../../credentials/passwords/hashing.ts'
import { saysTheSame } from '../../../identities/documents/same.ts'
import type { People } from '../../../identities/people.ts'
import { schemaOf, type Traits } from '../../../identities/traits.ts'
import type { Store } from '../../../store.ts'
import type { OAuthStates } from '../../social/oauth-states.ts'
import type { SocialSignIn } from '../../social/sign-in.ts'
import type { AddressProof } from '../address-proof.ts'
import { askerOf } from '../asker.ts'
import type { Client } from '../client.ts'
import type { CodeSteps } from '../code-steps.ts'
import type { Codes } from '../codes.ts'
import type { Completed, Completion } from '../completion.ts'
import { complain } from '../failure.ts'
import type { FlowRepository } from '../flow.ts'
import { newcomerIn, traitsIn } from '../identifiers.ts'
import { requireGoodPassword } from '../new-password.ts'
import type { Offers } from '../offers.ts'
import type { FlowRow } from '../store.ts'
import type { Submission } from '../submission.ts'
import type { Throttle } from '../throttle.ts'
import {
  codeRegistration,
  codeRegistrationSent,
  displayNameTrait,
  emailTrait,
  passwordRegistration,
  type Say,
  socialButtons,
} from '../ui/index.ts'
import { bringsCode, type Kind, type Method, methodIn, type Outcome, providerIn } from './kind.ts'
import type { Verifying } from './verification.ts'

/** Registration: contract/gate, self-service flows. */
export function createRegistration(parts: {
  db: Db
  store: Store
  people: People
  repository: FlowRepository
  codes: Codes
  codeSteps: CodeSteps
  completion: Completion
  proof: AddressProof
  credentials: Credentials
  hashing: Hashing
  throttle: Throttle
  offers: Offers
  oauthStates: OAuthStates
  socialSignIn: SocialSignIn
  verifying: Verifying
  password: Config['gate']['password']
}): Kind {
  const { db, store, people, repository, codes, codeSteps, completion, credentials, hashing } =
    parts
  const { proof, throttle, offers, oauthStates, socialSignIn, verifying } = parts
  const { password: policy } = parts

  function nodes(flow: FlowRow, say: Say) {
    if (flow.state === 'sent_email' && offers.byCode(flow))
      return codeRegistrationSent(say, { email: flow.address ?? '' })
    const { pendingAccount } = repository.internalOf(flow)
    if (pendingAccount)
      return [emailTrait(say), ...socialButtons(say, 'registration', [pendingAccount.provider])]
    return [
      emailTrait(say),
      ...(schemaOf(flow.tenantId) === 'operator' ? [displayNameTrait(say)] : []),
      ...passwordRegistration(say),
      ...(offers.byCode(flow) ? codeRegistration(say) : []),
      ...socialButtons(say, 'registration', offers.providers(flow)),
    ]
  }

  async function submit(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    switch (methodIn(input, 'registration', offeredBy(flow))) {
      case 'password':
        return byPassword(flow, input, client)
      case 'code':
        return bringsCode(flow, input) ? byCode(flow, input, client) : sendCode(flow, input, client)
      default:
        return byAccount(flow, input, client)
    }
  }

  const offeredBy = (flow: FlowRow): Method[] => [
    'password',
    'oidc',
    ...(offers.byCode(flow) ? (['code'] as const) : []),
  ]

  async function byPassword(flow: FlowRow, input: Submission, client: Client): Promise<Completed> {
    const traits = newcomerIn(input, flow)
    const password = input.required('password')
    requireGoodPassword(password, traits.email, policy.minLength)
    throttle.counted(client)
    requireFree(flow, traits)
    const hash = await hashing.hash(askerOf(flow, client), password)
    return db.commitFor(flow.tenantId, () => {
      const current = repository.open(flow.id)
      requireFree(flow, traits)
      const person = people.addByThemselves(flow.tenantId, traits, 'password')
      credentials.setPassword(person, hash)
      const continueWith = verifying.askNewcomer(current, person, client)
      const done = completion.signUp(current, person, { method: 'password', aal: 'aal1' }, client)
      return { ...done, continueWith }
    })
  }

  /** Checked again within the commit; this early check avoids the cost of a useless hash. */
  function requireFree({ tenantId }: FlowRow, { email }: Traits) {
    if (store.identities.byEmail(tenantId, email)) throw complain(4000007)
  }

  async function sendCode(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    const isAgain = input.text('resend') !== undefined && flow.state === 'sent_email'
    const traits =
      (isAgain ? repository.internalOf(flow).traits : undefined) ?? newcomerIn(input, flow)
    throttle.counted(client)
    const sent = await db.commitFor(flow.tenantId, () => {
      const current = repository.open(flow.id)
      requireFree(current, traits)
      const kept = repository.save(current, { internalParts: { traits } })
      return codes.send(kept, {
        address: traits.email,
        person: undefined,
        client,
        letter: (mailTemplates, about) => mailTemplates.registrationCode(about),
      })
    })
    return { is: 'flow', flow: sent }
  }

  async function byCode(flow: FlowRow, input: Submission, client: Client): Promise<Completed> {
    requireUnchanged(flow, input)
    return codeSteps.redeem(flow, { input, client }, (current, { address }) => {
      const { traits } = repository.internalOf(current)
      if (traits?.email !== address) return undefined
      requireFree(current, traits)
      const person = people.addByThemselves(flow.tenantId, traits, 'password')
      proof.prove(person)
      return completion.signUp(current, person, { method: 'code', aal: 'aal1' }, client)
    })
  }

  /** The code verifies one address, which must not change after the code was sent. */
  function requireUnchanged(flow: FlowRow, input: Submission) {
    if (Object.keys(input.object('traits')).length === 0) return
    const { traits } = repository.internalOf(flow)
    if (!traits || !isSame(traitsIn(input, flow), traits)) throw complain(4000036)
  }

  /**
   * Sends the browser to the provider; or completes a registration whose provider shared no
   * address, with the one entered.
   */
  async function byAccount(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    const provider = providerIn(input, 'provider', offers.providers(flow))
    const { pendingAccount } = repository.internalOf(flow)
    if (pendingAccount?.provider !== provider)
      return oauthStates.begin(flow, { provider, input, client })
    const traits = newcomerIn(input, flow)
    throttle.counted(client)
    return db.commitFor(flow.tenantId, () => {
      const current = repository.open(flow.id)
      requireFree(current, traits)
      return socialSignIn.register(current, pendingAccount, { traits, isVerified: false }, client)
    })
  }

  return { nodes, submit }
}

const isSame = (one: Traits, other: Traits): boolean =>
  one.email === other.email && saysTheSame(one.custom_data ?? null, other.custom_data ?? null)
