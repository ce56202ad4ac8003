import type { Mail } from '../../../../../platform/mail/index.ts'
import type { CodeSteps } from '../code-steps.ts'
import type { CompleteRecovery } from '../complete-recovery.ts'
import { addressIn } from '../identifiers.ts'
import type { FlowRow } from '../store.ts'
import type { Form } from '../submission.ts'
import { recoveryCodeSent, recoveryStart, type Say } from '../ui/index.ts'
import { type Kind, methodIn, type Outcome, type Stepped } from './kind.ts'

/** An emailed code ends all sessions and opens a fresh one to set a new password: contract/gate. */
export function createRecovery(parts: {
  codeSteps: CodeSteps
  completeRecovery: CompleteRecovery
  mail: Pick<Mail, 'hasServer'>
}): Kind {
  const { codeSteps, completeRecovery, mail } = parts

  function nodes(flow: FlowRow, say: Say, code?: string) {
    if (flow.state === 'passed_challenge') return []
    if (flow.state === 'sent_email')
      return recoveryCodeSent(say, { email: flow.address ?? '', code })
    return mail.hasServer ? recoveryStart(say) : []
  }

  async function submit(form: Form): Promise<Outcome> {
    methodIn(form.input, 'recovery', ['code'])
    return form.input.has('code') ? confirm(form) : send(form)
  }

  const send = (form: Form): Promise<Stepped> =>
    codeSteps.sendToHolder(form, {
      address: addressIn(form.input, 'email'),
      link: 'own flow',
      latestWorks: true,
      write: (mailTemplates, values) => mailTemplates.recovery(values),
    })

  const confirm = (form: Form): Promise<Stepped> =>
    codeSteps.redeemOwn(form, (flow, person) => completeRecovery(flow, person, form.client))

  return { nodes, submit }
}
