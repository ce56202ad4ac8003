import { saysTheSame } from '../../../identities/documents/same.ts'
import { schemaOf, type Traits } from '../../../identities/traits.ts'
import type { OAuthStates } from '../../social/oauth-states.ts'
import type { SocialSignIn } from '../../social/sign-in.ts'
import type { CodeSteps } from '../code-steps.ts'
import type { Completed } from '../completion.ts'
import type { EnabledMethods } from '../enabled-methods.ts'
import { fieldError } from '../failure.ts'
import type { FlowRepository } from '../flow.ts'
import { newcomerIn, traitsIn } from '../identifiers.ts'
import type { FormPasswords } from '../passwords.ts'
import type { Newcomer, SignUp } from '../sign-up.ts'
import type { FlowRow } from '../store.ts'
import type { Form } from '../submission.ts'
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

/** Registration: contract/gate, self-service flows. */
export function createRegistration(parts: {
  enabledMethods: EnabledMethods
  repository: FlowRepository
  throttle: Throttle
  signUp: SignUp
  passwords: FormPasswords
  codeSteps: CodeSteps
  oauthStates: OAuthStates
  socialSignIn: SocialSignIn
}): Kind {
  const { enabledMethods, repository, throttle, signUp, passwords, codeSteps } = parts
  const { oauthStates, socialSignIn } = parts

  function nodes(flow: FlowRow, say: Say) {
    if (flow.state === 'sent_email' && enabledMethods.byCode(flow))
      return codeRegistrationSent(say, { email: flow.address ?? '' })
    const { pendingAccount } = repository.internalOf(flow)
    if (pendingAccount)
      return [emailTrait(say), ...socialButtons(say, 'registration', [pendingAccount.provider])]
    return [
      emailTrait(say),
      ...(schemaOf(flow.tenantId) === 'operator' ? [displayNameTrait(say)] : []),
      ...passwordRegistration(say),
      ...(enabledMethods.byCode(flow) ? codeRegistration(say) : []),
      ...socialButtons(say, 'registration', enabledMethods.providers(flow)),
    ]
  }

  async function submit(form: Form): Promise<Outcome> {
    switch (methodIn(form.input, 'registration', offeredBy(form.flow))) {
      case 'password':
        return byPassword(form)
      case 'code':
        return bringsCode(form) ? byCode(form) : sendCode(form)
      default:
        return byAccount(form)
    }
  }

  const offeredBy = (flow: FlowRow): Method[] => [
    'password',
    'oidc',
    ...(enabledMethods.byCode(flow) ? (['code'] as const) : []),
  ]

  async function byPassword({ flow, input, client }: Form): Promise<Completed> {
    const traits = newcomerIn(input, flow)
    const password = input.required('password')
    passwords.requireGood(flow.tenantId, password, traits.email)
    throttle.counted(client)
    // Checked again within the commit; this early check avoids the cost of a useless hash.
    signUp.requireFree(flow, traits)
    const hash = await passwords.hash({ tenantId: flow.tenantId, client }, password)
    const newcomer: Newcomer = {
      traits,
      isVerified: false,
      proof: { method: 'password', aal: 'aal1' },
      addCredential: (person) => passwords.set(person, hash),
    }
    return repository.advance(flow, (current) => signUp.signUp(current, newcomer, client))
  }

  async function sendCode(form: Form): Promise<Outcome> {
    const { flow, input } = form
    const isAgain = input.text('resend') !== undefined && flow.state === 'sent_email'
    const traits =
      (isAgain ? repository.internalOf(flow).traits : undefined) ?? newcomerIn(input, flow)
    return codeSteps.send(form, (current) => {
      signUp.requireFree(current, traits)
      return {
        flow: repository.save(current, { internalParts: { traits } }),
        address: traits.email,
        person: undefined,
        write: (mailTemplates, values) => mailTemplates.registrationCode(values),
      }
    })
  }

  async function byCode(form: Form): Promise<Completed> {
    requireUnchanged(form)
    return codeSteps.redeem(form, (flow, { address }) => {
      const { traits } = repository.internalOf(flow)
      if (traits?.email !== address) return undefined
      const proof = { method: 'code', aal: 'aal1' } as const
      return signUp.signUp(flow, { traits, isVerified: true, proof }, form.client)
    })
  }

  /** The code verifies one address, which must not change after the code was sent. */
  function requireUnchanged({ flow, input }: Form) {
    if (Object.keys(input.object('traits')).length === 0) return
    const { traits } = repository.internalOf(flow)
    if (!traits || !isSame(traitsIn(input, flow), traits)) throw fieldError(4000036)
  }

  /** Redirects to the provider, or completes a registration for which it shared no address. */
  async function byAccount(form: Form): Promise<Outcome> {
    const { flow, input, client } = form
    const provider = providerIn(input, 'provider', enabledMethods.providers(flow))
    const { pendingAccount } = repository.internalOf(flow)
    if (pendingAccount?.provider !== provider) return oauthStates.begin(form, provider)
    const traits = newcomerIn(input, flow)
    throttle.counted(client)
    return repository.advance(flow, (current) =>
      socialSignIn.signUp(current, pendingAccount, { traits, isVerified: false }, client),
    )
  }

  return { nodes, submit }
}

const isSame = (one: Traits, other: Traits): boolean =>
  one.email === other.email && saysTheSame(one.custom_data ?? null, other.custom_data ?? null)
