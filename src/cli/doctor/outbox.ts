import { type Finding, ok, warning } from './finding.ts'
import type { Store } from './store.ts'
import { counted } from './words.ts'

const check = 'mails'
const MANY = 10

/** Mails that nobody gets, and why. */
export function outbox(store: Store, hasServer: boolean, now: number): Finding[] {
  const trouble = store.mailTrouble()
  if (trouble !== null)
    return [warning(check, `some have to be tried again, the last because of: ${trouble}`)]
  const kept = store.keptMails(now)
  if (kept === 0) return []
  const message = `${counted(kept, 'mail')} kept that nobody sends`
  if (hasServer)
    return [warning(check, `${message}: restart the server, which has no smtp_url yet`)]
  return kept < MANY
    ? [ok(check, message)]
    : [warning(check, `${message}: set [mail] smtp_url and from, then restart`)]
}
