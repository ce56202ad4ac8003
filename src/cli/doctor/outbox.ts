import { type Finding, ok, warning } from './finding.ts'
import type { Store } from './store.ts'
import { counted } from './words.ts'

const check = 'mails'
const MANY = 10

/** Mails that can't be sent, and why. */
export function outbox(store: Store, hasServer: boolean, now: number): Finding[] {
  const issue = store.mailIssue()
  if (issue !== null)
    return [warning(check, `some emails are waiting for a retry. Last error: ${issue}`)]
  const kept = store.keptMails(now)
  if (kept === 0) return []
  const message = `${counted(kept, 'email')} held, not sent`
  if (hasServer) return [warning(check, `${message}: start the server to send them`)]
  return kept < MANY
    ? [ok(check, message)]
    : [
        warning(
          check,
          `${message}: set up a mail server in the console, or set [mail] smtp_url and from`,
        ),
      ]
}
