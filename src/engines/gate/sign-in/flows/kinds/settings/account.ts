import type { Config } from '../../../../../../config/index.ts'
import type { Credentials } from '../../../../credentials/index.ts'
import type { ChangePassword } from '../../../../credentials/password-change.ts'
import type { Hashing } from '../../../../credentials/passwords/hashing.ts'
import type { Asker } from '../../../../credentials/passwords/index.ts'
import type { People } from '../../../../identities/people.ts'
import { traitsOf } from '../../../../identities/present.ts'
import { byThemselves } from '../../actor.ts'
import { askerOf } from '../../asker.ts'
import { complain } from '../../failure.ts'
import { traitsIn } from '../../identifiers.ts'
import { requireGoodPassword } from '../../new-password.ts'
import type { Notify } from '../../notices.ts'
import type { Throttle } from '../../throttle.ts'
import type { Outcome } from '../kind.ts'
import type { Verifying } from '../verification.ts'
import type { Changes, Wish } from './change.ts'

/** Settings of the profile and the password. */
export function createAccountSettings(parts: {
  people: People
  credentials: Credentials
  setPassword: ChangePassword
  hashing: Hashing
  throttle: Throttle
  verifying: Verifying
  notify: Notify
  changes: Changes
  password: Config['gate']['password']
}) {
  const { people, credentials, setPassword, hashing } = parts
  const { throttle, verifying, notify, changes, password: policy } = parts

  /**
   * Changes the profile. A new address replaces the old one once the code sent to it was entered.
   */
  async function changeProfile(wish: Wish): Promise<Outcome> {
    const wanted = traitsIn(wish.input, wish.flow)
    if (wanted.email !== wish.session.email) await requireLeaveToWrite(wish)
    return changes.change(wish, 'profile', ({ flow, person }) => {
      const traits = { ...traitsOf(person), ...wanted, email: person.email }
      people.change(person, byThemselves(person), { traits })
      if (wanted.email === person.email) return undefined
      const asked = verifying.askForChange(flow, person, {
        address: wanted.email,
        client: wish.client,
      })
      // Sent to the current address, whose owner may not know of the change.
      notify(flow, person, (mailTemplates, about) =>
        mailTemplates.emailChangeNotice({ ...about, newAddress: wanted.email }),
      )
      return asked
    })
  }

  /** Limits address changes, because each sends a mail to an address that may belong to anyone. */
  async function requireLeaveToWrite(wish: Wish) {
    const { tenant_id: tenantId, identity_id: id } = wish.session
    await changes.requireFresh(wish)
    throttle.spend({ tenantId, purpose: 'address change', identifier: id })
  }

  async function changePassword(wish: Wish): Promise<Outcome> {
    const { input, session, client } = wish
    const { tenant_id: tenantId, identity_id: id, email } = session
    await changes.requireFresh(wish)
    const password = input.required('password')
    requireGoodPassword(password, email, policy.minLength)
    // Learning that a new password equals the current one is as good as a correct guess, so it is
    // throttled like one.
    const guess = { tenantId, purpose: 'password change', identifier: id } as const
    const hash = await throttle.guarded(guess, client, async () => {
      const asker = askerOf({ tenantId }, client)
      await requireAnother(asker, password, { tenantId, id })
      return hashing.hash(asker, password)
    })
    return changes.change(wish, 'password', ({ flow, person }) => {
      setPassword(person, hash, session.id)
      changes.record(person, 'identity.password_changed')
      notify(flow, person, (mailTemplates, about) => mailTemplates.passwordChanged(about))
      return undefined
    })
  }

  async function requireAnother(
    asker: Asker,
    password: string,
    person: { tenantId: string; id: string },
  ) {
    const stored = credentials.passwordOf(person)
    if (stored !== undefined && (await hashing.verify(asker, password, stored)))
      throw complain(4000039, { field: 'password' })
  }

  return { changeProfile, changePassword }
}
