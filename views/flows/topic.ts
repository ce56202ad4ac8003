import type { FlowPage } from '../../src/engines/gate/flows/pages.ts'
import type { Topic } from './words.ts'

/** What a person is to do next. */
export function topicOf({ kind, flow }: FlowPage): Topic {
  if (kind === 'settings') return 'settings'
  if (flow.state === 'sent_email') return 'enter_code'
  const isDone = flow.state === 'passed_challenge'
  if (kind === 'registration') return 'sign_up'
  if (kind === 'recovery') return isDone ? 'recovered' : 'recover'
  if (kind === 'verification') return isDone ? 'verified' : 'verify'
  if (flow.requested_aal === 'aal2') return 'second_factor'
  return flow.refresh ? 'sign_in_again' : 'sign_in'
}
