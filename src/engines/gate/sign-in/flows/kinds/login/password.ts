import type { Credentials } from '../../../../credentials/index.ts'
import type { SignIns } from '../../../../sessions/sign-ins.ts'
import type { Store } from '../../../../store.ts'
import { deviceOf } from '../../client.ts'
import type { Completed, Completion } from '../../completion.ts'
import { fieldError } from '../../failure.ts'
import type { FlowRepository } from '../../flow.ts'
import { emailOrNone } from '../../identifiers.ts'
import type { FormPasswords } from '../../passwords.ts'
import type { Form, Submission } from '../../submission.ts'
import type { Throttle } from '../../throttle.ts'

export type PasswordLogin = ReturnType<typeof createPasswordLogin>

/** Sign-in with a password. */
export function createPasswordLogin(parts: {
  store: Store
  credentials: Credentials
  repository: FlowRepository
  passwords: FormPasswords
  throttle: Throttle
  completion: Completion
  signIns: SignIns
}) {
  const { store, credentials, repository, passwords, throttle, completion, signIns } = parts

  /** `knownEmail` is the address of a user who signs in again. */
  return async function signIn(form: Form, knownEmail: string | undefined): Promise<Completed> {
    const { tenantId } = form.flow
    const identifier = knownEmail ?? identifierIn(form.input)
    const password = form.input.required('password')
    const email = emailOrNone(identifier)
    const guess = { tenantId, purpose: 'sign-in', identifier: email ?? identifier } as const
    return throttle.guarded(guess, form.client, () => attempt(form, email, password))
  }

  async function attempt(form: Form, email: string | undefined, password: string) {
    const { flow, client } = form
    const { tenantId } = flow
    const sender = { tenantId, client }
    const person = email === undefined ? undefined : store.identities.byEmail(tenantId, email)
    const stored = await passwords.verify(sender, person, password)
    if (!person || stored === undefined) {
      if (person) signIns.failed(person, { method: 'password', ...deviceOf(client) }, 'wrong')
      throw fieldError(4000006)
    }
    const renewed = await passwords.renew(sender, password, stored)
    return repository.advance(flow, (current) => {
      // The identity or its password may have changed in the meantime.
      const user = store.identities.find(tenantId, person.id)
      if (!user || credentials.passwordOf(user) !== stored) throw fieldError(4000006)
      if (renewed !== undefined) credentials.setPassword(user, renewed)
      return completion.signIn(current, user, { method: 'password', aal: 'aal1' }, client)
    })
  }
}

/** Some front ends still send the field's old name. */
const identifierIn = (input: Submission): string =>
  input.text('identifier') ?? input.text('password_identifier') ?? input.required('identifier')
