import type { ChangePassword } from '../../../../credentials/password-change.ts'
import type { People } from '../../../../identities/people.ts'
import { traitsOf } from '../../../../identities/present.ts'
import { byThemselves } from '../../actor.ts'
import { complain } from '../../failure.ts'
import { traitsIn } from '../../identifiers.ts'
import type { Notify } from '../../notices.ts'
import type { FormPasswords } from '../../passwords.ts'
import type { Throttle } from '../../throttle.ts'
import type { Outcome } from '../kind.ts'
import type { VerificationCodes } from '../verification/codes.ts'
import type { Changes, Wish } from './change.ts'

/** Settings of the profile and the password. */
export function createAccountSettings(parts: {
  people: People
  passwords: FormPasswords
  setPassword: ChangePassword
  throttle: Throttle
  verificationCodes: VerificationCodes
  notify: Notify
  changes: Changes
}) {
  const { people, passwords, setPassword, throttle, verificationCodes, notify, changes } = parts

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
      const asked = verificationCodes.sendToNewAddress(flow, person, {
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
    passwords.requireGood(password, email)
    // Learning that a new password equals the current one is as good as a correct guess, so it is
    // throttled like one.
    const guess = { tenantId, purpose: 'password change', identifier: id } as const
    const hash = await throttle.guarded(guess, client, async () => {
      const sender = { tenantId, client }
      if (await passwords.isCurrent(sender, { tenantId, id }, password))
        throw complain(4000039, { field: 'password' })
      return passwords.hash(sender, password)
    })
    return changes.change(wish, 'password', ({ flow, person }) => {
      setPassword(person, hash, session.id)
      changes.record(person, 'identity.password_changed')
      notify(flow, person, (mailTemplates, about) => mailTemplates.passwordChanged(about))
      return undefined
    })
  }

  return { changeProfile, changePassword }
}
