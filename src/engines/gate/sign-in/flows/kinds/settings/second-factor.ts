import type { Clock } from '../../../../../../platform/clock.ts'
import type { Tenants } from '../../../../../../platform/tenants.ts'
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
import { complain } from '../../failure.ts'
import type { FlowRepository } from '../../flow.ts'
import type { Notify } from '../../notices.ts'
import type { FlowRow } from '../../store.ts'
import { lookupNone, lookupSet, lookupShown, type Say, totpSet, totpSetup } from '../../ui/index.ts'
import type { Outcome } from '../kind.ts'
import type { Changes, Wish } from './change.ts'

/** Settings of the authenticator app and the recovery codes. */
export function createSecondFactorSettings(parts: {
  clock: Clock
  tenants: Tenants
  repository: FlowRepository
  sessions: Sessions
  secondFactors: SecondFactors
  notify: Notify
  changes: Changes
}) {
  const { clock, tenants, repository, sessions, secondFactors, notify, changes } = parts

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
    const issuer = tenants.nameOf(tenantId)
    return { secret, qr: qrCode(totpUri({ secret, issuer, account: email })) }
  }

  /**
   * Sets up an authenticator app. The code proves that the app has the secret, so the session then
   * has two factors.
   */
  async function setUpTotp(wish: Wish): Promise<Outcome> {
    const code = wish.input.required('totp_code')
    return changes.change(wish, 'totp', ({ flow, person, session }) => {
      const { totpSecret: secret } = repository.internalOf(flow)
      if (secret === undefined || secondFactors.hasTotp(person)) throw complain(4010004)
      const step = matchTotp({ secret, code, now: clock.now(), after: null })
      if (step === undefined) throw complain(4000008, { field: 'totp_code' })
      secondFactors.setTotp(person, secret, step)
      sessions.strengthen(session, { method: 'totp', aal: 'aal2' })
      tell(flow, person, true)
      return undefined
    })
  }

  const removeTotp = (wish: Wish): Promise<Outcome> =>
    changes.change(wish, 'totp', ({ flow, person }) => {
      if (!secondFactors.hasTotp(person)) throw complain(4000011)
      secondFactors.removeTotp(person)
      tell(flow, person, false)
      return undefined
    })

  function tell(flow: FlowRow, person: IdentityRow, isOn: boolean) {
    changes.record(person, `identity.authenticator_${isOn ? 'added' : 'removed'}`)
    notify(flow, person, (mailTemplates, about) =>
      mailTemplates.secondFactorChanged({ ...about, isOn }),
    )
  }

  async function changeTotp(wish: Wish): Promise<Outcome> {
    await changes.requireFresh(wish)
    return wish.input.isSet('totp_unlink') ? removeTotp(wish) : setUpTotp(wish)
  }

  async function changeCodes(wish: Wish): Promise<Outcome> {
    const { input } = wish
    await changes.requireFresh(wish)
    if (input.isSet('lookup_secret_regenerate')) return showNewCodes(wish)
    if (input.isSet('lookup_secret_confirm')) return keepCodes(wish)
    if (input.isSet('lookup_secret_disable')) return removeCodes(wish)
    throw complain(input.isSet('lookup_secret_reveal') ? 4900007 : 4010004)
  }

  /**
   * Shows new recovery codes. They replace the previous ones once the user confirms having saved
   * them.
   */
  const showNewCodes = (wish: Wish): Promise<Outcome> =>
    changes.step(wish, ({ flow }) => {
      const internalParts = { ...repository.internalOf(flow), recoveryCodes: newRecoveryCodes() }
      return repository.save(flow, { active: 'lookup_secret', notices: null, internalParts })
    })

  const keepCodes = (wish: Wish): Promise<Outcome> =>
    changes.change(wish, 'lookup_secret', ({ flow, person }) => {
      const { recoveryCodes } = repository.internalOf(flow)
      if (!recoveryCodes) throw complain(4000014)
      secondFactors.setCodes(person, recoveryCodes)
      changes.record(person, 'identity.recovery_codes_made')
      return undefined
    })

  const removeCodes = (wish: Wish): Promise<Outcome> =>
    changes.change(wish, 'lookup_secret', ({ person }) => {
      secondFactors.removeCodes(person)
      changes.record(person, 'identity.recovery_codes_removed')
      return undefined
    })

  return { nodes, changeTotp, changeCodes }
}
