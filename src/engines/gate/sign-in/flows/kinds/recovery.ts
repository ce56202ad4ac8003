import type { Client } from '../client.ts'
import type { CodeSteps } from '../code-steps.ts'
import { addressIn } from '../identifiers.ts'
import type { Recovered } from '../recovered.ts'
import type { FlowRow } from '../store.ts'
import type { Submission } from '../submission.ts'
import type { Throttle } from '../throttle.ts'
import { recoveryCodeSent, recoveryStart, type Say } from '../ui/index.ts'
import { type Kind, methodIn, type Outcome, type Stepped } from './kind.ts'

/**
 * Account recovery: an emailed code opens a session that is fresh enough to set a new password and
 * ends all other sessions of the identity. contract/gate, self-service flows.
 */
export function createRecovery(parts: {
  codeSteps: CodeSteps
  recovered: Recovered
  throttle: Throttle
}): Kind {
  const { codeSteps, recovered, throttle } = parts

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
    return codeSteps.sendToHolder(flow, {
      address,
      client,
      link: 'own flow',
      latestWorks: true,
      letter: (mailTemplates, about) => mailTemplates.recovery(about),
    })
  }

  const confirm = (flow: FlowRow, input: Submission, client: Client): Promise<Stepped> =>
    codeSteps.redeemOwn(flow, { input, client }, (current, person) =>
      recovered(current, person, client),
    )

  return { nodes, submit }
}
