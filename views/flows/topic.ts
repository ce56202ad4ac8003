import type { FlowPage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { Flow } from '../../src/engines/gate/sign-in/model.ts'
import { isButton, isHidden } from './nodes.ts'
import type { Topic } from './words.ts'

/** The step that the user has to take next. */
export function topicOf({ kind, flow }: FlowPage): Topic {
  if (kind === 'settings') return 'settings'
  if (flow.state === 'sent_email') return sentTopicOf(kind, flow)
  const isDone = flow.state === 'passed_challenge'
  if (kind === 'registration') return 'sign_up'
  if (kind === 'recovery') return isDone ? 'recovered' : 'recover'
  if (kind === 'verification') return isDone ? 'verified' : 'verify'
  if (flow.requested_aal === 'aal2') return 'second_factor'
  return flow.refresh ? 'sign_in_again' : 'sign_in'
}

/** If the code came from a link or was entered already, there is none to enter. */
function sentTopicOf(kind: FlowPage['kind'], { ui: { nodes } }: Flow): Topic {
  const isByLink = nodes.some((node) => isHidden(node) && node.attributes.name === 'code')
  const isChoice = nodes.some((node) => isButton(node) && node.attributes.name === 'confirm_by')
  if (!isByLink && !isChoice) return 'enter_code'
  return kind === 'recovery' ? 'recover_by_link' : 'confirm'
}
