import type { Branding } from '../../../platform/branding/index.ts'
import { deviceOf } from '../../../platform/device.ts'
import { callbackData } from '../callback-data.ts'
import type { Message } from '../messenger.ts'
import type { AttemptRow } from '../store/attempts.ts'
import { createTexts } from '../texts/index.ts'
import type { LoginOutcome } from '../texts/wording.ts'

export type PromptWording = ReturnType<typeof createPromptWording>

/** The text and the buttons of messages about an attempt. */
export function createPromptWording({ branding }: { branding: Pick<Branding, 'nameOf'> }) {
  const appOf = ({ tenantId }: AttemptRow): string => branding.nameOf(tenantId)

  function question(attempt: AttemptRow): Message {
    const { clientLabel, clientUserAgent, clientIp, createdAt, matchCode } = attempt
    const text = createTexts(attempt.language).prompt({
      app: appOf(attempt),
      label: clientLabel,
      device: deviceOf(clientUserAgent),
      address: clientIp,
      askedAt: createdAt,
      match: matchCode !== null,
    })
    return { text, buttons: buttonsFor(attempt) }
  }

  function outcome(attempt: AttemptRow, outcome: LoginOutcome): Message {
    const at = attempt.endedAt ?? attempt.expiresAt
    return {
      text: createTexts(attempt.language).outcome(outcome, { app: appOf(attempt), at }),
      buttons: [],
    }
  }

  return { question, outcome }
}

/** Deny takes the same effort as Approve and is as visible. */
function buttonsFor({ id, language, choices }: AttemptRow): Message['buttons'] {
  const { approve, deny } = createTexts(language)
  const denial = { label: deny, data: callbackData('deny', id) }
  if (choices === null) return [[denial, { label: approve, data: callbackData('approve', id) }]]
  const numbers: string[] = JSON.parse(choices)
  return [numbers.map((label) => ({ label, data: callbackData(label, id) })), [denial]]
}
