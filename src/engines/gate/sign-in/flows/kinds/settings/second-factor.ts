import type { Branding } from '../../../../../../platform/branding/index.ts'
import type { Clock } from '../../../../../../platform/clock.ts'
import type { SecondFactors } from '../../../../credentials/second-factor/index.ts'
import { qrCode } from '../../../../credentials/second-factor/qr-code.ts'
import {
  newRecoveryCodes,
  shownRecoveryCode,
} from '../../../../credentials/second-factor/recovery-codes.ts'
import { matchTotp, totpUri } from '../../../../credentials/second-factor/totp.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import type { Sessions } from '../../../../sessions/index.ts'
import type { Node } from '../../../model.ts'
import { fieldError } from '../../failure.ts'
import type { FlowRepository } from '../../flow.ts'
import type { Notify } from '../../notices.ts'
import type { FlowRow } from '../../store.ts'
import { lookupNone, lookupSet, lookupShown, type Say, totpSet, totpSetup } from '../../ui/index.ts'
import type { Outcome } from '../kind.ts'
import type { Changes, SettingsForm } from './change.ts'

/** Settings of the authenticator app and the recovery codes. */
export function createSecondFactorSettings(parts: {
  clock: Clock
  branding: Pick<Branding, 'nameOf'>
  repository: FlowRepository
  sessions: Sessions
  secondFactors: SecondFactors
  notify: Notify
  changes: Changes
}) {
  const { clock, branding, repository, sessions, secondFactors, notify, changes } = parts

  function nodes(flow: FlowRow, person: IdentityRow, say: Say): Node[] {
    const { totpSecret = '', recoveryCodes } = repository.internalOf(flow)
    const kept = secondFactors.hasCodes(person) ? lookupSet(say) : lookupNone(say)
    return [
      ...(secondFactors.hasTotp(person)
        ? totpSet(say)
        : totpSetup(say, setupOf(person, totpSecret))),
      ...(recoveryCodes ? lookupShown(say, { codes: recoveryCodes.map(shownRecoveryCode) }) : kept),
    ]
  }

  function setupOf({ tenantId, email }: IdentityRow, secret: string) {
    const issuer = branding.nameOf(tenantId)
    return { secret, qr: qrCode(totpUri({ secret, issuer, account: email })) }
  }

  /** The code proves that the app has the secret, so the session then has two factors. */
  async function setUpTotp(form: SettingsForm): Promise<Outcome> {
    const code = form.input.required('totp_code')
    return changes.change(form, 'totp', ({ flow, person, session }) => {
      const { totpSecret: secret } = repository.internalOf(flow)
      if (secret === undefined || secondFactors.hasTotp(person)) throw fieldError(4010004)
      const step = matchTotp({ secret, code, now: clock.now(), after: null })
      if (step === undefined) throw fieldError(4000008, { field: 'totp_code' })
      secondFactors.setTotp(person, secret, step)
      sessions.strengthen(session, { method: 'totp', aal: 'aal2' })
      report(flow, person, true)
      return undefined
    })
  }

  const removeTotp = (form: SettingsForm): Promise<Outcome> =>
    changes.change(form, 'totp', ({ flow, person }) => {
      if (!secondFactors.hasTotp(person)) throw fieldError(4000011)
      secondFactors.removeTotp(person)
      report(flow, person, false)
      return undefined
    })

  function report(flow: FlowRow, person: IdentityRow, isOn: boolean) {
    changes.record(person, `identity.authenticator_${isOn ? 'added' : 'removed'}`)
    notify(flow, person, (mailTemplates, about) =>
      mailTemplates.secondFactorChanged({ ...about, isOn }),
    )
  }

  async function changeTotp(form: SettingsForm): Promise<Outcome> {
    await changes.requireFresh(form)
    return form.input.isSet('totp_unlink') ? removeTotp(form) : setUpTotp(form)
  }

  async function changeCodes(form: SettingsForm): Promise<Outcome> {
    const { input } = form
    await changes.requireFresh(form)
    if (input.isSet('lookup_secret_regenerate')) return showNewCodes(form)
    if (input.isSet('lookup_secret_confirm')) return keepCodes(form)
    if (input.isSet('lookup_secret_disable')) return removeCodes(form)
    throw fieldError(input.isSet('lookup_secret_reveal') ? 4900007 : 4010004)
  }

  /** The new codes replace the previous ones once the user confirms having saved them. */
  const showNewCodes = (form: SettingsForm): Promise<Outcome> =>
    changes.step(form, ({ flow }) => {
      const internalParts = { ...repository.internalOf(flow), recoveryCodes: newRecoveryCodes() }
      return repository.save(flow, { active: 'lookup_secret', notices: null, internalParts })
    })

  const keepCodes = (form: SettingsForm): Promise<Outcome> =>
    changes.change(form, 'lookup_secret', ({ flow, person }) => {
      const { recoveryCodes } = repository.internalOf(flow)
      if (!recoveryCodes) throw fieldError(4000014)
      secondFactors.setCodes(person, recoveryCodes)
      changes.record(person, 'identity.recovery_codes_made')
      return undefined
    })

  const removeCodes = (form: SettingsForm): Promise<Outcome> =>
    changes.change(form, 'lookup_secret', ({ person }) => {
      secondFactors.removeCodes(person)
      changes.record(person, 'identity.recovery_codes_removed')
      return undefined
    })

  return { nodes, changeTotp, changeCodes }
}
