import type { Mail } from '../../../../../../platform/mail/index.ts'
import type { CodeSteps } from '../../code-steps.ts'
import type { FlowRepository } from '../../flow.ts'
import { addressIn } from '../../identifiers.ts'
import type { FlowRow } from '../../store.ts'
import type { Form } from '../../submission.ts'
import type { Throttle } from '../../throttle.ts'
import {
  confirmChoice,
  type Say,
  verificationCodeSent,
  verificationDone,
  verificationStart,
} from '../../ui/index.ts'
import { type Kind, methodIn, type Outcome, type Stepped } from '../kind.ts'
import type { VerificationCodes } from './codes.ts'
import { choiceIn, type ProvenMailbox } from './mailbox.ts'

/**
 * The verification form: contract/gate, self-service flows. A code verifies the address only for
 * the holder of the account, which someone else may have created; others must sign in first.
 */
export function createVerificationKind(parts: {
  repository: FlowRepository
  throttle: Throttle
  verificationCodes: VerificationCodes
  codeSteps: CodeSteps
  provenMailbox: ProvenMailbox
  mail: Pick<Mail, 'hasServer'>
}): Kind {
  const { repository, throttle, verificationCodes, codeSteps, provenMailbox, mail } = parts

  function nodes(flow: FlowRow, say: Say, code?: string) {
    if (flow.state === 'passed_challenge')
      return verificationDone(say, { ...(flow.returnTo !== null && { continueTo: flow.returnTo }) })
    const { mailbox, addressChange } = repository.internalOf(flow)
    if (mailbox) return confirmChoice(say, { mayRecover: addressChange === undefined })
    if (flow.state === 'sent_email')
      return verificationCodeSent(say, { email: flow.address ?? '', code })
    return mail.hasServer ? verificationStart(say) : []
  }

  async function submit(form: Form): Promise<Outcome> {
    methodIn(form.input, 'verification', ['code'])
    if (form.input.has('code')) return redeem(form)
    return form.input.has('confirm_by') ? choose(form) : send(form)
  }

  async function send({ flow, input, client }: Form): Promise<Stepped> {
    const address = addressIn(input, 'email')
    throttle.counted(client)
    const sent = await repository.advance(flow, (current) =>
      verificationCodes.sendTo(address, provenMailbox.forget(current), client),
    )
    return { is: 'flow', flow: sent }
  }

  const redeem = (form: Form): Promise<Stepped> =>
    codeSteps.redeemOwn(form, (flow, person, { address }) =>
      provenMailbox.confirm({ ...form, flow }, person, address),
    )

  async function choose(form: Form): Promise<Stepped> {
    const choice = choiceIn(form.input)
    throttle.counted(form.client)
    return repository.advance(form.flow, (flow) => provenMailbox.choose({ ...form, flow }, choice))
  }

  return { nodes, submit }
}
