import type { Audit } from '../../../../platform/audit/index.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Sessions } from '../../sessions/index.ts'
import { recordOwn } from './actor.ts'
import type { AddressProof } from './address-proof.ts'
import { type Client, deviceOf } from './client.ts'
import { fieldError } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { Stepped } from './kinds/kind.ts'
import type { FlowRow } from './store.ts'

export type CompleteRecovery = ReturnType<typeof createCompleteRecovery>

/**
 * Completes a recovery, within the commit that consumed the emailed code: ends all sessions of the
 * identity and starts one that is fresh enough to set a new password.
 */
export function createCompleteRecovery(parts: {
  audit: Audit
  repository: FlowRepository
  addressProof: AddressProof
  sessions: Sessions
  hostedUrl: (flow: FlowRow) => string
}) {
  const { audit, repository, addressProof, sessions, hostedUrl } = parts

  return function completeRecovery(flow: FlowRow, person: IdentityRow, client: Client): Stepped {
    if (person.state === 'inactive') throw fieldError(4010011)
    const current = sessions.endAll(addressProof.proveByMailbox(person))
    recordOwn(audit, person, 'identity.recovered')
    const { token, session } = sessions.open(current, {
      assuranceLevel: 'aal1',
      methods: [{ method: 'code_recovery', aal: 'aal1' }],
      ...deviceOf(client),
    })
    const settings = repository.begin({
      tenantId: flow.tenantId,
      kind: 'settings',
      language: flow.language,
      identityId: person.id,
      sessionId: session.id,
      returnTo: flow.returnTo,
      browserHash: client.wants === 'page' ? client.browserHash : null,
      notices: [{ id: 1060001 }],
    })
    const url = hostedUrl(settings)
    return {
      is: 'flow',
      flow: repository.complete(flow, { state: 'passed_challenge' }),
      continueWith: [
        { action: 'set_ory_session_token', ory_session_token: token },
        { action: 'show_settings_ui', flow: { id: settings.id, url } },
      ],
      next: url,
    }
  }
}
