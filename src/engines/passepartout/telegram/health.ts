import type { Db } from '../../../db/open.ts'
import type { Alerts } from '../../../platform/alerts/index.ts'
import type { Log } from '../../../platform/log.ts'
import { botAlert } from '../bot-alerts.ts'
import { MessengerError } from '../messenger.ts'
import type { LoginEvents } from '../metrics.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'

export type Health = ReturnType<typeof createHealth>

/** Ignores short interruptions, and the conflict when taking over from a stopped process. */
const REPORTED_AFTER = 3

/** The health of a bot as shown to its owner, stored when it changes. */
export function createHealth(parts: {
  bot: BotRow
  db: Db
  log: Log
  alerts: Alerts
  store: Store
  events: LoginEvents
  onChange: () => void
}) {
  const { bot, db, log, alerts, store, events, onChange } = parts
  let known: Pick<BotRow, 'health' | 'issue'> = bot

  const well = () => {
    if (known.health !== 'ok') void tell('ok', null)
  }

  /** Returns `end` if continuing is useless until the bot is changed. */
  async function ill(error: unknown, failures: number): Promise<'go on' | 'end'> {
    const reason = error instanceof MessengerError ? error.reason : 'broken'
    events.callFailed(reason)
    if (reason === 'unauthorized')
      return (await tell('invalid_token', 'Telegram no longer accepts the token')) ? 'end' : 'go on'
    if (failures >= REPORTED_AFTER)
      await tell(reason === 'conflict' ? 'conflict' : 'unreachable', wordsOf(error))
    return 'go on'
  }

  /** The token cannot be decrypted. */
  const sealed = () =>
    tell('invalid_token', 'its token cannot be decrypted with the current master key: set it again')

  const isConflict = (error: unknown): boolean =>
    error instanceof MessengerError && error.reason === 'conflict'

  /** Stores the state; returns whether that succeeded. */
  async function tell(health: BotRow['health'], issue: string | null): Promise<boolean> {
    if (health === known.health && issue === known.issue) return true
    try {
      await db.commitFor(bot.tenantId, () => {
        store.bots.setHealth(bot, health, issue)
        if (health === 'ok') alerts.resolve(botAlert(bot, issue))
        else alerts.openOnce(botAlert(bot, issue))
      })
    } catch {
      // The database reports the storage error; the next round tries again.
      return false
    }
    const isNews = health !== known.health
    known = { health, issue }
    onChange()
    if (!isNews) return true
    const fields = { botId: bot.id, tenantId: bot.tenantId, issue }
    if (health === 'ok') log.info('bot works again', fields)
    else log.warn('bot does not work', { ...fields, health })
    return true
  }

  return { well, ill, sealed, isConflict }
}

const wordsOf = (error: unknown): string =>
  error instanceof MessengerError ? error.message : 'Gatehouse failed; see the server log'
