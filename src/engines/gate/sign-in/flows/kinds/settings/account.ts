import type { ChangePassword } from '../../../../credentials/password-change.ts'
import type { People } from '../../../../identities/people.ts'
import { traitsOf } from '../../../../identities/present.ts'
import { byThemselves } from '../../actor.ts'
import { fieldError } from '../../failure.ts'
import { traitsIn } from '../../identifiers.ts'
import type { Notify } from '../../notices.ts'
import type { FormPasswords } from '../../passwords.ts'
import type { Throttle } from '../../throttle.ts'
import type { Outcome } from '../kind.ts'
import type { VerificationCodes } from '../verification/codes.ts'
import type { Changes, SettingsForm } from './change.ts'

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

  /** A new address replaces the old one once the code sent to it was entered. */
  async function changeProfile(form: SettingsForm): Promise<Outcome> {
    const wanted = traitsIn(form.input, form.flow)
    if (wanted.email !== form.session.email) await limitAddressChange(form)
    return changes.change(form, 'profile', ({ flow, person }) => {
      const traits = { ...traitsOf(person), ...wanted, email: person.email }
      people.change(person, byThemselves(person), { traits })
      if (wanted.email === person.email) return undefined
      const asked = verificationCodes.sendToNewAddress(flow, person, {
        address: wanted.email,
        client: form.client,
      })
      // Sent to the current address, whose owner may not know of the change.
      notify(flow, person, (mailTemplates, about) =>
        mailTemplates.emailChangeNotice({ ...about, newAddress: wanted.email }),
      )
      return asked
    })
  }

  /** Limits address changes, because each sends a mail to an address that may belong to anyone. */
  async function limitAddressChange(form: SettingsForm) {
    const { tenant_id: tenantId, identity_id: id } = form.session
    await changes.requireFresh(form)
    throttle.spend({ tenantId, purpose: 'address change', identifier: id })
  }

  async function changePassword(form: SettingsForm): Promise<Outcome> {
    const { input, session, client } = form
    const { tenant_id: tenantId, identity_id: id, email } = session
    await changes.requireFresh(form)
    const password = input.required('password')
    passwords.requireGood(tenantId, password, email)
    // Learning that a password equals the current one is a correct guess, so it is throttled.
    const guess = { tenantId, purpose: 'password change', identifier: id } as const
    const hash = await throttle.guarded(guess, client, async () => {
      const sender = { tenantId, client }
      if (await passwords.isCurrent(sender, { tenantId, id }, password))
        throw fieldError(4000039, { field: 'password' })
      return passwords.hash(sender, password)
    })
    return changes.change(form, 'password', ({ flow, person }) => {
      setPassword(person, hash, session.id)
      changes.record(person, 'identity.password_changed')
      notify(flow, person, (mailTemplates, about) => mailTemplates.passwordChanged(about))
      return undefined
    })
  }

  return { changeProfile, changePassword }
}
