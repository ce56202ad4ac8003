import type { AlertRow, AlertState, Alerts } from '../../platform/alerts/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import type { Channel as ChannelRecord, Channels } from './channels/channels.ts'
import type { Alert, Channel, LogEntry } from './model.ts'
import type { createNoticeStore, NoticeRow } from './notices/store.ts'
import { presentAlert, presentChannel, presentNotice } from './present.ts'

interface PageQuery {
  cursor?: string | undefined
  limit: number
}

const STATES: readonly AlertState[] = ['open', 'resolved']

/** Lists of a tenant, or of the installation for null, page by page. */
export function createLists(parts: {
  clock: Clock
  alerts: Alerts
  channels: Channels
  store: ReturnType<typeof createNoticeStore>
  urlOf: (tenantId: string | null, path: string) => string
}) {
  const { clock, alerts, channels, store, urlOf } = parts
  const cursorsOf = (name: string, tenantId: string | null) =>
    `${name} of ${tenantId ?? 'the installation'}`

  /** In the order of their creation; there are few. */
  function channelPage(tenantId: string | null, { cursor, limit }: PageQuery): Page<Channel> {
    const cursors = createCursor(cursorsOf('channels', tenantId), 'string')
    const after = cursors.positionOf(cursor)
    const rows = channels.list(tenantId).filter(({ id }) => after === undefined || id > after)
    return shown(
      page<ChannelRecord>(rows, limit, ({ id }) => cursors.encode(id)),
      presentChannel,
    )
  }

  /** Open ones first, then the last opened first. */
  function alertPage(
    tenantId: string | null,
    { state, cursor, limit }: PageQuery & { state?: AlertState | undefined },
  ): Page<Alert> {
    const shape = ['string', 'number', 'number'] as const
    const cursors = createCursor(cursorsOf('alerts', tenantId), shape)
    const position = cursors.positionOf(cursor)
    const rows = alertRows(tenantId, state, position, limit + 1)
    return shown(
      page<AlertRow>(rows, limit, (last) => cursors.encode([last.state, last.openedAt, last.seq])),
      presentedAlert,
    )
  }

  const presentedAlert = (row: AlertRow): Alert =>
    presentAlert(row, { now: clock.now(), url: urlOf(row.tenantId, row.path) })

  function alertRows(
    tenantId: string | null,
    state: AlertState | undefined,
    position: readonly [string, number, number] | undefined,
    limit: number,
  ): AlertRow[] {
    const [from = 'open', value = 0, seq = 0] = position ?? []
    const rows: AlertRow[] = []
    for (const one of STATES) {
      if ((state && state !== one) || one < from) continue
      const after = position && one === from ? { value, seq } : undefined
      rows.push(...alerts.page(tenantId, one, { after, limit: limit - rows.length }))
      if (rows.length >= limit) break
    }
    return rows
  }

  /** Newest first. */
  function logPage(tenantId: string | null, { cursor, limit }: PageQuery): Page<LogEntry> {
    const cursors = createCursor(cursorsOf('notices', tenantId))
    const before = cursors.positionOf(cursor)
    const rows = store.list(tenantId, { before, limit: limit + 1 })
    return shown(
      page<NoticeRow>(rows, limit, ({ seq }) => cursors.encode(seq)),
      presentNotice,
    )
  }

  return { channels: channelPage, alerts: alertPage, log: logPage, presentedAlert }
}

const shown = <Row, Item>(rows: Page<Row>, present: (row: Row) => Item): Page<Item> => ({
  ...rows,
  data: rows.data.map(present),
})
