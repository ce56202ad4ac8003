import type { SecondFactors } from '../../../../credentials/second-factor/index.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import { isByMailbox } from '../../../../sessions/index.ts'
import type { SignIns } from '../../../../sessions/sign-ins.ts'
import type { Store } from '../../../../store.ts'
import { deviceOf } from '../../client.ts'
import type { Completed, Completion } from '../../completion.ts'
import { fieldError, tooSoon } from '../../failure.ts'
import type { FlowRepository } from '../../flow.ts'
import type { Form } from '../../submission.ts'
import type { Throttle } from '../../throttle.ts'
import { lookupLogin, type MessageId, type Say, totpLogin } from '../../ui/index.ts'

export type SecondFactorLogin = ReturnType<typeof createSecondFactorLogin>

/** The second factor of a sign-in: an authenticator app or a recovery code. */
export function createSecondFactorLogin(parts: {
  store: Store
  secondFactors: SecondFactors
  repository: FlowRepository
  throttle: Throttle
  completion: Completion
  signIns: SignIns
}) {
  const { store, secondFactors, repository, throttle, completion, signIns } = parts

  const nodes = (person: IdentityRow | undefined, say: Say) => [
    ...totpLogin(say),
    ...(person && secondFactors.hasCodes(person) ? lookupLogin(say) : []),
  ]

  async function submit(form: Form, method: Method): Promise<Completed> {
    const typed = form.input.required(FIELDS[method])
    return throttle.watched(form.client, () => attempt(form, method, typed))
  }

  async function attempt(form: Form, method: Method, typed: string): Promise<Completed> {
    const { flow, client, session } = form
    const accept = method === 'totp' ? secondFactors.acceptTotp : secondFactors.acceptCode
    const by = session && isByMailbox(session) ? 'mailbox' : 'other'
    // The result is returned, not thrown, so that the attempt it counted is stored.
    const result = await repository.advance(flow, (current) => {
      const person = store.identities.find(flow.tenantId, current.identityId ?? '')
      if (!person) return { is: undefined, outcome: 'wrong' as const, waitMs: 0 }
      const outcome = accept(person, typed, by)
      if (outcome !== 'right') {
        signIns.failed(person, { method, ...deviceOf(client) }, 'wrong')
        return { is: undefined, outcome, waitMs: secondFactors.blockedMs(person, by) }
      }
      return completion.signIn(current, person, { method, aal: 'aal2' }, client)
    })
    if (result.is === 'signed_in') return result
    const field = FIELDS[method]
    if (result.outcome === 'blocked') throw tooSoon(result.waitMs, field)
    throw fieldError(ERRORS[method][result.outcome], { field })
  }

  return { nodes, submit }
}

type Method = 'totp' | 'lookup_secret'

const FIELDS = { totp: 'totp_code', lookup_secret: 'lookup_secret' } as const

const ERRORS: Record<Method, Record<'wrong' | 'used', MessageId>> = {
  totp: { wrong: 4000008, used: 4000008 },
  lookup_secret: { wrong: 4000016, used: 4000012 },
}
