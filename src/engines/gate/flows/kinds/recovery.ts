import type { Audit } from '../../../../platform/audit/index.ts'
import type { Sessions } from '../../sessions.ts'
import type { FlowRow } from '../../store/flows.ts'
import type { IdentityRow } from '../../store/identities.ts'
import { byThemselves } from '../actor.ts'
import { type Client, deviceOf } from '../client.ts'
import type { CodeSteps } from '../code-steps.ts'
import type { Completion } from '../completion.ts'
import { complain } from '../failure.ts'
import type { FlowKeeper } from '../flow.ts'
import { addressIn } from '../identifiers.ts'
import type { Submission } from '../submission.ts'
import type { Throttle } from '../throttle.ts'
import { recoveryCodeSent, recoveryStart, type Say } from '../ui/index.ts'
import { type Kind, methodIn, type Outcome, type Stepped } from './kind.ts'

/**
 * A way back in for who has lost theirs: a code by mail leads to a session, fresh enough to set a
 * new password. All other sessions of the person end. contract/gate, self-service flows.
 */
export function createRecovery(parts: {
  audit: Audit
  keeper: FlowKeeper
  codeSteps: CodeSteps
  completion: Completion
  sessions: Sessions
  throttle: Throttle
  hostedUrl: (flow: FlowRow) => string
}): Kind {
  const { audit, keeper, codeSteps, completion, sessions, throttle, hostedUrl } = parts

  function nodes(flow: FlowRow, say: Say, code?: string) {
    if (flow.state === 'passed_challenge') return []
    if (flow.state === 'sent_email')
      return recoveryCodeSent(say, { email: flow.address ?? '', code })
    return recoveryStart(say)
  }

  async function submit(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    methodIn(input, 'recovery', ['code'])
    return input.has('code') ? confirm(flow, input, client) : send(flow, input, client)
  }

  async function send(flow: FlowRow, input: Submission, client: Client): Promise<Stepped> {
    const address = addressIn(input, 'email')
    throttle.counted(client)
    return codeSteps.sendToHolder(flow, address, (letters, about) => letters.recovery(about))
  }

  const confirm = (flow: FlowRow, input: Submission, client: Client): Promise<Stepped> =>
    codeSteps.redeemOwn(flow, { input, client }, (current, person) =>
      recovered(current, person, client),
    )

  function recovered(flow: FlowRow, person: IdentityRow, client: Client): Stepped {
    if (person.state === 'inactive') throw complain(4010011)
    const proven = completion.proveByMailbox(person)
    const current = sessions.endAll(proven)
    audit.record({
      tenantId: person.tenantId,
      actor: byThemselves(person),
      action: 'identity.recovered',
      object: `identity:${person.id}`,
    })
    const { token, session } = sessions.open(current, {
      assuranceLevel: 'aal1',
      methods: [{ method: 'code_recovery', aal: 'aal1' }],
      ...deviceOf(client),
    })
    const settings = keeper.begin({
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
      flow: keeper.complete(flow, { state: 'passed_challenge' }),
      continueWith: [
        { action: 'set_ory_session_token', ory_session_token: token },
        { action: 'show_settings_ui', flow: { id: settings.id, url } },
      ],
      next: url,
    }
  }

  return { nodes, submit }
}
