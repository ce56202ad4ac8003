import type { IdentityRow } from '../../../../identities/store.ts'
import type { Store } from '../../../../store.ts'
import type { OAuthStates } from '../../../social/oauth-states.ts'
import type { AddressProof } from '../../address-proof.ts'
import type { CodeSteps } from '../../code-steps.ts'
import type { Completed, Completion } from '../../completion.ts'
import type { EnabledMethods } from '../../enabled-methods.ts'
import { FlowRefusal } from '../../failure.ts'
import { addressIn } from '../../identifiers.ts'
import type { FlowRow } from '../../store.ts'
import type { Form } from '../../submission.ts'
import {
  codeLogin,
  codeLoginSent,
  identifierNode,
  passwordLogin,
  type Say,
  socialButtons,
} from '../../ui/index.ts'
import { bringsCode, type Kind, type Method, methodIn, type Outcome, providerIn } from '../kind.ts'
import type { PasswordLogin } from './password.ts'
import type { SecondFactorLogin } from './second-factor.ts'

/** Sign-in: contract/gate, self-service flows. */
export function createLogin(parts: {
  store: Store
  enabledMethods: EnabledMethods
  password: PasswordLogin
  codeSteps: CodeSteps
  addressProof: AddressProof
  completion: Completion
  oauthStates: OAuthStates
  secondFactor: SecondFactorLogin
}): Kind {
  const { store, enabledMethods, password, codeSteps, addressProof, completion } = parts
  const { oauthStates, secondFactor } = parts

  function nodes(flow: FlowRow, say: Say) {
    if (flow.requestedAal === 'aal2') return secondFactor.nodes(personOf(flow), say)
    if (flow.state === 'sent_email' && enabledMethods.byCode(flow))
      return codeLoginSent(say, { identifier: flow.address ?? '' })
    const person = personOf(flow)
    return [
      identifierNode(say, { ...(person && { value: person.email }), isHidden: flow.isRefresh }),
      ...passwordLogin(say, { isRefresh: flow.isRefresh }),
      ...(enabledMethods.byCode(flow) ? codeLogin(say) : []),
      ...socialButtons(say, 'login', enabledMethods.providers(flow)),
    ]
  }

  /** The identity that the flow is for; undefined before the first factor. */
  const personOf = ({ tenantId, identityId }: FlowRow): IdentityRow | undefined =>
    identityId === null ? undefined : store.identities.find(tenantId, identityId)

  async function submit(form: Form): Promise<Outcome> {
    const { flow, input, session } = form
    if (flow.sessionId !== null && !session)
      throw new FlowRefusal('session_inactive', 'the session of this flow has ended')
    const method = methodIn(input, 'login', offeredBy(flow))
    switch (method) {
      case 'password':
        return password(form, emailOf(flow))
      case 'code':
        return bringsCode(form) ? byCode(form) : sendCode(form)
      case 'totp':
      case 'lookup_secret':
        return secondFactor.submit(form, method)
      default:
        return oauthStates.begin(
          form,
          providerIn(input, 'provider', enabledMethods.providers(flow)),
        )
    }
  }

  const offeredBy = (flow: FlowRow): Method[] =>
    flow.requestedAal === 'aal2'
      ? ['totp', 'lookup_secret']
      : ['password', 'oidc', ...(enabledMethods.byCode(flow) ? (['code'] as const) : [])]

  /** The address of a user who signs in again; undefined for others, who enter theirs. */
  const emailOf = (flow: FlowRow): string | undefined =>
    flow.isRefresh ? (personOf(flow)?.email ?? '') : undefined

  async function sendCode(form: Form): Promise<Outcome> {
    const { flow, input } = form
    const sentTo = input.has('identifier') ? undefined : flow.address
    return codeSteps.sendToHolder(form, {
      address: emailOf(flow) ?? sentTo ?? addressIn(input, 'identifier'),
      write: (mailTemplates, values) => mailTemplates.loginCode(values),
    })
  }

  const byCode = (form: Form): Promise<Completed> =>
    codeSteps.redeemOwn(form, (flow, person) => {
      const proven = proveAddress(flow, person)
      return completion.signIn(flow, proven, { method: 'code', aal: 'aal1' }, form.client)
    })

  /** A signed-in user who also controls the mailbox is the one who created the account. */
  function proveAddress(flow: FlowRow, person: IdentityRow): IdentityRow {
    if (flow.sessionId === null) return addressProof.proveByMailbox(person)
    addressProof.prove(person)
    return person
  }

  return { nodes, submit }
}
